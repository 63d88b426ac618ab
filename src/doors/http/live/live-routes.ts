import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Access } from '../../../base/access/access.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { DIRECTIONS } from '../../../core/base/vocabulary.js';
import { LiveFeed } from '../../../node/feed/live-feed.js';
import { LiveStreams, STREAMS_MAX } from '../../../node/feed/live-streams.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { StatusParts } from '../../../node/status/status-parts.js';
import { PROBLEM } from '../route/answer-schemas.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { EventSink } from './event-sink.js';
import { HISTORY, HISTORY_QUERY, LIVE_NOW, LIVE_QUERY } from './live-schemas.js';

type UsedParts = StatusParts & Pick<NodeParts, 'gate'>;

const EVERY_MS = 1000;

/** Adds the live page's stream: one frame a second per view, made once for all its readers. */
export function addLiveRoutes(app: FastifyInstance, node: UsedParts, access: Access, telemetry: Telemetry): void {
  const feed = new LiveFeed(node);
  const streams = new LiveStreams(feed, (group) => node.groups.isLive(group));
  beat(app, streams, telemetry);
  route(
    app,
    {
      ...VIEWING,
      url: '/v1/live',
      summary: 'Shows the node, a window of the list of groups by heat, and one group; as events, every second',
      query: LIVE_QUERY,
      answers: { 200: LIVE_NOW, 404: PROBLEM, 422: PROBLEM, 503: PROBLEM },
    },
    (request, reply) => {
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
  );
  route(
    app,
    {
      ...VIEWING,
      url: '/v1/live/history',
      summary: 'Shows the last 15 minutes as this node remembers them: the node, and the groups that were busiest',
      query: HISTORY_QUERY,
      answers: { 200: HISTORY, 404: PROBLEM, 422: PROBLEM },
    },
    ({ query: { group, direction = 'publish', ago = '0' } }, reply) => {
      const number = group === undefined ? null : node.gate.groupToShow(group);
      reply.send(feed.history(number, DIRECTIONS.indexOf(direction), Number(ago)));
    },
  );
}

const VIEWING = { method: 'GET', access: needs('viewer'), tag: 'live' } as const;

/** Tests for a GET of the stream; HEAD shares the handler. */
function wantsEvents({ method, headers: { accept } }: FastifyRequest): boolean {
  return method === 'GET' && accept?.includes('text/event-stream') === true;
}

/** Beats once a second from the start on, as the last 15 minutes are remembered. */
function beat(app: FastifyInstance, streams: LiveStreams, telemetry: Telemetry): void {
  let told = 0;
  const timer = setInterval(() => {
    streams.tick();
    if (streams.ended['too-slow'] === told) return;
    telemetry.log('warn', 'live pages dropped', { reason: 'too-slow', count: streams.ended['too-slow'] - told });
    told = streams.ended['too-slow'];
  }, EVERY_MS);
  timer.unref();
  app.addHook('preClose', (done) => {
    clearInterval(timer);
    streams.close();
    done();
  });
}
