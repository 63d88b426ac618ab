import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { createTopic } from '../../../node/loop/open-topics.js';
import { recordTopic } from '../../../topic/recording/record-topic.js';
import { RecordingWriter } from '../../../topic/recording/recording-writer.js';
import { PROBLEM } from '../route/answer-schemas.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { RECORDING_QUERY } from './live-schemas.js';

type UsedParts = Pick<NodeParts, 'config' | 'telemetry'>;

/** Recordings at once: each reads the whole topic by itself. */
const RECORDINGS_MAX = 1;

/**
 * Records the topic as `quotamesh record` does, into the answer; nothing is written to a disk. A second reader begins
 * at the start of the log, because the node's own keeps nothing.
 */
export function addRecordingRoute(app: FastifyInstance, { config, telemetry }: UsedParts): void {
  const running = new Set<AbortController>();
  app.addHook('preClose', (done) => {
    for (const one of running) one.abort();
    done();
  });
  route(
    app,
    {
      method: 'GET',
      url: '/v1/live/recording',
      access: needs('operator'),
      tag: 'live',
      summary: 'Records the report topic from now on for some seconds, for `quotamesh sim replay`',
      query: RECORDING_QUERY,
      answers: { 200: RECORDING, 422: PROBLEM, 503: PROBLEM },
    },
    async ({ method, query: { seconds } }, reply) => {
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
          dropSlowReader(writer, ending.signal, answer);
          const tell = (text: string) => telemetry.log('warn', 'recording', { reason: text });
          return recordTopic({ config, topic, writer, signal: ending.signal, tell });
        })
        .catch((error: Error) => answer.destroy(error))
        .finally(() => running.delete(ending));
      return reply.send(answer);
    },
  );
}

/** Most bytes that wait for the reader. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

function dropSlowReader(writer: RecordingWriter, signal: AbortSignal, answer: PassThrough): void {
  const timer = setInterval(() => {
    if (writer.waitingBytes > WAITING_BYTES_MAX) answer.destroy(new Error('the reader of a recording is too slow'));
  }, 1000);
  timer.unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

const RECORDING = {
  description: 'The recording, as it comes.',
  content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
};

function fileName(cluster: string): string {
  const time = new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19);
  return `${cluster.replace(/[^\w.-]/g, '_').slice(0, 60)}-${time}.qmrec`;
}
