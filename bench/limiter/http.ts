import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FastifyInstance, fastify } from 'fastify';
import { Access } from '../../src/base/access/access.js';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import { createAcquireOutcomes } from '../../src/doors/http/acquire/acquire-answers.js';
import { createHttpServer } from '../../src/doors/http/server/http-server.js';
import { createWholeNode, type WholeNode } from '../../test/whole-node.js';
import type { Sample } from './figures.js';
import type { LoadTurn } from './http-load.js';
import { HttpLoader } from './http-loader.js';

const TURNS = 7;
const TURN_MS = 600;
/** Requests in one bulk request. */
export const BATCH = 32;

export interface HttpFigure {
  readonly name: string;
  readonly requestsPerSecond: Sample;
  /** CPU time of the serving process. Both servers live in it, and one at a time is at work. */
  readonly cpuMicros: Sample;
  /** What it is compared with; null for the bare routes. */
  readonly bare: string | null;
}

/**
 * POST /v1/acquire beside a bare fastify route that parses the same body and answers as shortly, in turns, over TCP and
 * a Unix socket. The load comes from a process of its own over 32 connections, which costs less than the servers, so
 * that they are what is measured.
 */
export async function measureHttp(): Promise<HttpFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-bench-'));
  const huge = { publish: { messagesPerSecond: 1e12, bytesPerSecond: 1e12 } };
  const config = { cluster: 'bench-http', node: 'bench', topic: 'memory', groups: { orders: { quota: huge } } };
  const node = await createWholeNode({ config });
  const places = await Promise.all([bareServer, () => nodeServer(node)].map((make) => listeners(make, folder)));
  const [bare, ours] = places as [Listeners, Listeners];
  const request = { group: 'orders', messages: 1, bytes: 100 };
  const many = { requests: Array.from({ length: BATCH }, () => request) };
  const contestants = (['tcp', 'unix'] as const).flatMap((way) => [
    { name: `bare route, ${way}`, bare: null, order: { place: bare[way], path: '/bare', body: request } },
    {
      name: `POST /v1/acquire, ${way}`,
      bare: `bare route, ${way}`,
      order: { place: ours[way], path: ACQUIRE, body: request },
    },
    {
      name: `bare route, ${way}, ${BATCH} requests`,
      bare: null,
      order: { place: bare[way], path: '/bare', body: many },
    },
    {
      name: `POST /v1/acquire/bulk, ${way}, ${BATCH} requests`,
      bare: `bare route, ${way}, ${BATCH} requests`,
      order: { place: ours[way], path: `${ACQUIRE}/bulk`, body: many },
    },
  ]);
  const figures = await play(contestants);
  await Promise.all([...places.flatMap(({ apps }) => apps.map((app) => app.close())), node.close()]);
  rmSync(folder, { recursive: true, force: true });
  return figures;
}

const ACQUIRE = '/v1/acquire';

interface HttpContestant {
  readonly name: string;
  readonly bare: string | null;
  readonly order: Omit<LoadTurn, 'forMs'>;
}

async function play(contestants: readonly HttpContestant[]): Promise<HttpFigure[]> {
  const load = new HttpLoader();
  const rates = contestants.map((): number[] => []);
  const micros = contestants.map((): number[] => []);
  for (let turn = -1; turn < TURNS; turn++) {
    for (const [at, { order }] of contestants.entries()) {
      const { requestsPerSecond, cpuMicros } = await load.turn({ ...order, forMs: TURN_MS });
      if (turn < 0) continue;
      rates[at].push(requestsPerSecond);
      micros[at].push(cpuMicros);
    }
  }
  await load.end();
  return contestants.map(({ name, bare }, at) => ({
    name,
    bare,
    requestsPerSecond: rates[at],
    cpuMicros: micros[at],
  }));
}

interface Listeners {
  readonly apps: readonly FastifyInstance[];
  readonly tcp: { readonly host: string; readonly port: number };
  readonly unix: { readonly path: string };
}

async function listeners(make: () => Promise<FastifyInstance>, folder: string): Promise<Listeners> {
  const [onTcp, onUnix] = await Promise.all([make(), make()]);
  await onTcp.listen({ host: '127.0.0.1', port: 0 });
  const { port } = onTcp.server.address() as { port: number };
  const path = join(mkdtempSync(join(folder, 's-')), 'http.sock');
  await onUnix.listen({ path });
  return { apps: [onTcp, onUnix], tcp: { host: '127.0.0.1', port }, unix: { path } };
}

async function bareServer(): Promise<FastifyInstance> {
  const app = fastify();
  app.post('/bare', (_, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8').send('{"granted":true}');
  });
  return app;
}

async function nodeServer(node: WholeNode): Promise<FastifyInstance> {
  const metrics = { scrape: async () => ({ contentType: 'text/plain', text: '' }) };
  const access = new Access(null, node.clock, silentTelemetry);
  return createHttpServer({ node, access, telemetry: silentTelemetry, outcomes: createAcquireOutcomes(), metrics });
}
