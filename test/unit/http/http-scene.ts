import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { Access } from '../../../src/base/access/access.js';
import type { Telemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { OtherConstants } from '../../../src/config/resolved/constants.js';
import type { EnvoyStatus } from '../../../src/doors/envoy/envoy-status.js';
import { createAcquireOutcomes } from '../../../src/doors/http/acquire/acquire-answers.js';
import type { ConnectionCounts } from '../../../src/doors/http/connections/connection-bounds.js';
import { closeHttp, createHttpServer } from '../../../src/doors/http/server/http-server.js';
import type { KeeperStatus } from '../../../src/doors/kafka-quotas/keeper-status.js';
import type { MqttStatus } from '../../../src/doors/mqtt/mqtt-status.js';
import { createMetrics } from '../../../src/doors/telemetry/metrics.js';
import { type WholeNode, wholeNode } from '../../whole-node.js';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>> | undefined;
}

/** A node on a memory topic of its own, with its HTTP server and metrics; not listening, not started. */
export interface HttpScene {
  readonly node: WholeNode;
  readonly app: FastifyInstance;
  readonly access: Access;
  readonly metrics: { text(): Promise<string> };
  readonly log: readonly LogLine[];
  /** What the listener has counted. */
  readonly counts: ConnectionCounts;
  ask(method: Method, url: string, payload?: unknown, more?: InjectOptions): Promise<Answer>;
  /** POST /v1/acquire. */
  acquire(body: unknown): Promise<Answer>;
  get(url: string): Promise<Answer>;
  close(): Promise<void>;
}

export type Method = 'GET' | 'HEAD' | 'OPTIONS' | 'PUT' | 'PATCH' | 'DELETE' | 'POST';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export const GROUPS = {
  orders: {
    quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: '1MiB' }, dispatch: { messagesPerSecond: 50 } },
  },
  blocked: { quota: { publish: { messagesPerSecond: 0 } } },
  slow: { quota: { publish: { messagesPerSecond: 0.05 } }, burst: { start: 'empty' }, maxRequest: { messages: 100 } },
  free: {},
};

/** What a configuration says, and constants that it cannot say. */
export interface SceneOverrides extends Readonly<Record<string, unknown>> {
  readonly constants?: OtherConstants;
}

let scenes = 0;

export async function httpScene(
  { constants, ...overrides }: SceneOverrides = {},
  mqtt?: () => MqttStatus,
  kafkaQuotas?: () => KeeperStatus,
  envoy?: () => EnvoyStatus,
): Promise<HttpScene> {
  const own = { cluster: `http-${process.pid}-${scenes++}`, node: 'a', topic: 'memory', groups: GROUPS };
  const raw = { ...own, ...overrides };
  return sceneOf(
    (telemetry) => wholeNode(resolveConfig(raw, { source: '(test)', constants }), telemetry),
    mqtt,
    kafkaQuotas,
    envoy,
  );
}

/** A node that somebody else has made, with its server. */
export async function sceneOf(
  make: (telemetry: Telemetry) => Promise<WholeNode>,
  mqtt?: () => MqttStatus,
  kafkaQuotas?: () => KeeperStatus,
  envoy?: () => EnvoyStatus,
): Promise<HttpScene> {
  const log: LogLine[] = [];
  const telemetry: Telemetry = { log: (level, message, facts) => void log.push({ level, message, facts }) };
  const node = await make(telemetry);
  const access = new Access(node.config.auth, node.clock, telemetry);
  const outcomes = createAcquireOutcomes();
  const metrics = createMetrics({ node, access, outcomes, incidents: { unhandledRejections: 0 }, kafkaQuotas, envoy });
  const app = await createHttpServer({ node, access, telemetry, metrics, outcomes, mqtt, kafkaQuotas, envoy });
  const ask: HttpScene['ask'] = (method, url, payload, more = {}) => {
    return answerOf(app, { method, url, ...more, ...(payload === undefined ? {} : { payload: payload as object }) });
  };
  return {
    node,
    app,
    access,
    metrics: { text: async () => (await metrics.scrape(undefined)).text },
    log,
    counts: outcomes.connections,
    ask,
    acquire: (body) => ask('POST', '/v1/acquire', body),
    get: (url) => ask('GET', url),
    close: async () => {
      await node.close();
      await closeHttp(app, 0);
    },
  };
}

/** The same, started and ready. */
export async function readyScene(...how: Parameters<typeof httpScene>): Promise<HttpScene> {
  const scene = await httpScene(...how);
  await scene.node.start();
  await scene.node.ready(10_000);
  // Buckets are empty when the node gets ready, and fill from then on: the smallest below holds a token after 20 ms.
  await sleep(100);
  return scene;
}

/** Waits until all nodes have read the same of the registry's log, and write no more. */
export async function settled(...scenes: readonly HttpScene[]): Promise<void> {
  const offsets = () => scenes.map(({ node }) => node.registry?.offset);
  for (let same = 0; same < 3; ) {
    const [before] = offsets();
    await sleep(5);
    same = offsets().every((offset) => offset === before) ? same + 1 : 0;
  }
}

export async function answerOf(app: FastifyInstance, request: InjectOptions): Promise<Answer> {
  const response = await app.inject(request);
  const isJson = /json/.test(String(response.headers['content-type']));
  return { status: response.statusCode, headers: response.headers, body: isJson ? response.json() : {} };
}
