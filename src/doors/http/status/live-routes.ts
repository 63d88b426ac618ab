import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from '../../../base/access/access.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { DIRECTIONS } from '../../../core/base/vocabulary.js';
import { record } from '../../../node/api/answer-table.js';
import { HISTORY_STATUS, LIVE_STATUS } from '../../../node/api/live-status.js';
import { LiveFeed } from '../../../node/feed/live-feed.js';
import { type EndOfStream, type LiveSink, LiveStreams, STREAMS_MAX } from '../../../node/feed/live-streams.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { createTopic } from '../../../node/loop/open-topics.js';
import { recordTopic } from '../../../topic/recording/record-topic.js';
import { RecordingWriter } from '../../../topic/recording/recording-writer.js';
import { json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { choice, once, whole } from '../route/fields.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';

const EVERY_MS = 1000;

/** Adds the live page's stream: one frame a second per view, made once for all its readers. */
export function addLiveRoutes(app: FastifyInstance, node: NodeParts, access: Access, telemetry: Telemetry): void {
  const feed = new LiveFeed(node);
  const streams = new LiveStreams(feed, (group) => node.groups.isLive(group));
  beat(app, streams, telemetry);
  route(app, {
    ...VIEWING,
    url: '/v1/live',
    summary: 'Shows the node, a window of the list of groups by heat, and one group; as events, every second',
    query: LIVE_QUERY,
    answers: { 200: LIVE_NOW, 404: PROBLEM, 422: PROBLEM, 503: PROBLEM },
    handler: (request, reply) => {
      const { order = 'heat', find = '', from = '0', count = '0', group } = request.query;
      const number = group === undefined ? null : node.gate.groupToShow(group);
      const view = { order, find, from: Number(from), count: Number(count), group: number };
      if (!wantsEvents(request)) {
        const shown = feed.framesOf(view).map(({ event, json }) => `"${event}":${json}`);
        reply.header('content-type', 'application/json; charset=utf-8').send(`{${shown.join(',')}}`);
        return;
      }
      if (streams.isFull) throw new QuotameshError('LIVE_FULL', { what: 'live pages', max: STREAMS_MAX });
      reply.hijack();
      const sink = new EventSink(reply.raw, access);
      sink.onClosed = streams.add(view, sink);
    },
  });
  route(app, {
    ...VIEWING,
    url: '/v1/live/history',
    summary: 'Shows the last 15 minutes as this node remembers them: the node, and the groups that were busiest',
    query: HISTORY_QUERY,
    answers: { 200: HISTORY, 404: PROBLEM, 422: PROBLEM },
    handler: ({ query: { group, direction = 'publish', ago = '0' } }) => {
      const number = group === undefined ? null : node.gate.groupToShow(group);
      return feed.history(number, DIRECTIONS.indexOf(direction), Number(ago));
    },
  });
}

const VIEWING = { method: 'GET', access: needs('viewer'), tag: 'live' } as const;

/** Tests for a GET of the stream; HEAD shares the handler. */
function wantsEvents({ method, headers: { accept } }: FastifyRequest): boolean {
  return method === 'GET' && accept?.includes('text/event-stream') === true;
}

/** Beats once a second from the start on: 15 minutes are remembered. */
function beat(app: FastifyInstance, streams: LiveStreams, telemetry: Telemetry): void {
  let told = 0;
  const timer = setInterval(() => {
    streams.tick();
    if (streams.ended['too-slow'] === told) return;
    telemetry.log('warn', 'live pages dropped', { reason: 'too-slow', count: streams.ended['too-slow'] - told });
    told = streams.ended['too-slow'];
  }, EVERY_MS);
  timer.unref();
  app.addHook('preClose', async () => {
    clearInterval(timer);
    streams.close();
  });
}

/** Writes the stream to one reader as server-sent events. */
class EventSink implements LiveSink {
  onClosed: () => void = () => undefined;
  readonly #response: ServerResponse;
  readonly #access: Access;
  readonly #version: number;

  constructor(response: ServerResponse, access: Access) {
    this.#response = response;
    this.#access = access;
    this.#version = access.version;
    response.once('close', () => this.onClosed());
    response.on('error', () => this.onClosed());
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Else proxies keep events back until a buffer is full.
      'x-accel-buffering': 'no',
    });
  }

  write(bytes: Buffer): void {
    this.#response.write(bytes);
  }

  get pendingBytes(): number {
    return this.#response.writableLength;
  }

  /** False once a token was taken out or lost a role: the page asks again, and is refused. */
  get isAllowed(): boolean {
    return this.#access.version === this.#version;
  }

  end(reason: EndOfStream): void {
    const { socket } = this.#response;
    this.#response.end(`event: ended\ndata: ${JSON.stringify({ reason, detail: DETAILS[reason] })}\n\n`);
    setTimeout(() => socket?.destroy(), PATIENCE_MS).unref();
  }
}

const DETAILS: Readonly<Record<EndOfStream, string>> = {
  'too-slow': 'the page takes less than it is sent; the node keeps no more for it',
  stopping: 'the node is stopping',
  'access-changed': 'tokens or roles have changed; the page has to ask again',
  'group-deleted': 'the group was deleted',
};

/** Milliseconds for a reader to take the reason of its end. */
const PATIENCE_MS = 5000;

/** Recordings at once: each reads the whole topic by itself. */
const RECORDINGS_MAX = 1;

/**
 * Records the topic as `quotamesh record` does, into the answer; nothing is written to a disk. A second reader begins
 * at the start of the log, because the node's own keeps nothing.
 */
export function addRecordingRoute(app: FastifyInstance, { config, telemetry }: NodeParts): void {
  const running = new Set<AbortController>();
  app.addHook('preClose', async () => {
    for (const one of running) one.abort();
  });
  route(app, {
    method: 'GET',
    url: '/v1/live/recording',
    access: needs('operator'),
    tag: 'live',
    summary: 'Records the report topic from now on for some seconds, for `quotamesh sim replay`',
    query: RECORDING_QUERY,
    answers: { 200: RECORDING, 422: PROBLEM, 503: PROBLEM },
    handler: async ({ method, query: { seconds } }, reply) => {
      reply.header('content-type', 'application/octet-stream');
      reply.header('content-disposition', `attachment; filename="${fileName(config.cluster)}"`);
      if (method === 'HEAD') return reply.send();
      if (running.size >= RECORDINGS_MAX) {
        throw new QuotameshError('LIVE_FULL', { what: 'recordings', max: RECORDINGS_MAX });
      }
      const ending = new AbortController();
      running.add(ending);
      const answer = new PassThrough();
      reply.raw.once('close', () => ending.abort());
      void delay(Number(seconds) * 1000, null, { signal: ending.signal, ref: false })
        .catch(() => undefined)
        .then(() => ending.abort());
      void createTopic(config, telemetry)
        .then((topic) => {
          const writer = RecordingWriter.into(answer);
          const timer = dropSlowReader(writer, answer);
          const tell = (text: string) => telemetry.log('warn', 'recording', { reason: text });
          const recorded = recordTopic({ config, topic, writer, signal: ending.signal, tell });
          return recorded.finally(() => clearInterval(timer));
        })
        .catch((error: Error) => answer.destroy(error))
        .finally(() => running.delete(ending));
      return reply.send(answer);
    },
  });
}

const WAITING_BYTES_MAX = 16 * 1024 * 1024;

function dropSlowReader(writer: RecordingWriter, answer: PassThrough): NodeJS.Timeout {
  const timer = setInterval(() => {
    if (writer.waitingBytes > WAITING_BYTES_MAX) answer.destroy(new Error('the reader of a recording is too slow'));
  }, 1000);
  return timer.unref();
}

const RECORDING = {
  description: 'The recording, as it comes.',
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
};

function fileName(cluster: string): string {
  const time = new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19);
  return `${cluster.replace(/[^\w.-]/g, '_').slice(0, 60)}-${time}.qmrec`;
}

/** Most groups listed at once: a 4k screen's lines. */
export const LINES_MAX = 120;
/** Largest number of a first line, above any number of groups. */
const FIRST_LINE_MAX = 9_999_999;
const HISTORY_SECONDS = 900;
const RECORDING_SECONDS_MAX = 900;

const group = once('Shows this group closely.');

const LIVE_QUERY = body({
  order: choice(
    ['heat', 'name'],
    'The order of the list of groups; heat is what is wanted, in quotas.',
  ).exactOptional(),
  find: once('Lists only groups with this text in their name.'),
  from: whole(FIRST_LINE_MAX, 'The first line of the list, from 0 on.').exactOptional(),
  count: whole(LINES_MAX, 'The number of lines of the list that are shown.').exactOptional(),
  group,
});

const HISTORY_QUERY = body({
  group,
  direction: choice(DIRECTIONS, 'The direction of the group.').exactOptional(),
  ago: whole(HISTORY_SECONDS, 'Lists groups as they were so many seconds ago.').exactOptional(),
});

const RECORDING_QUERY = body({ seconds: whole(RECORDING_SECONDS_MAX, 'The seconds that the recording lasts.') });

const LIVE_NOW = json(
  'The content of the page, once. With `Accept: text/event-stream` the same is pushed: an event `node`, `groups` or ' +
    '`group` a second for whatever has changed, and `ended` with the reason before the node ends the stream.',
  record(LIVE_STATUS),
);

const HISTORY = json('Columns of one value per second, the oldest first; null = not known.', record(HISTORY_STATUS));
