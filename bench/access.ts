import { Socket } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { Access } from '../src/base/access/access.js';
import type { AccessConfig } from '../src/base/access/access-config.js';
import { hashOf, newToken } from '../src/base/access/token.js';
import { silentTelemetry } from '../src/base/ports/telemetry.js';
import { RouteGuard } from '../src/doors/http/access/route-guard.js';
import { createAcquireOutcomes } from '../src/doors/http/acquire/acquire-answers.js';
import { KnownPaths } from '../src/doors/http/route/known-paths.js';
import { needs } from '../src/doors/http/route/route-access.js';
import { createHttpServer } from '../src/doors/http/server/http-server.js';
import { createWholeNode, type WholeNode } from '../test/whole-node.js';
import { HttpLoader } from './limiter/http-loader.js';

/**
 * What `auth:` costs POST /v1/acquire: one listener, in turns open and with 100 tokens, asked over 32 connections that stay; CPU
 * of this process per request, the least of all turns. (Of two listeners in one process the second is a fifth slower, whatever they do.)
 * Then what finding out who a caller is costs a new connection.
 */
const TURNS = Number(process.argv[2] ?? 40);
const TURN_MS = 150;
const TOKENS = 100;

const tokens = Array.from({ length: TOKENS }, newToken);
const auth: AccessConfig = {
  tokens: tokens.map((token, at) => ({
    name: `t${at}`,
    roles: ['traffic'],
    tenants: null,
    hash: hashOf(token).toString('hex'),
  })),
  certificates: [],
  failuresPerMinute: 30,
};
const huge = { publish: { messagesPerSecond: 1e12, bytesPerSecond: 1e12 } };
const config = { cluster: 'bench-access', node: 'bench', topic: 'memory', groups: { orders: { quota: huge } } };
const node = await createWholeNode({ config });
/** Open or not, as the turn has it. */
class SwitchedAccess extends Access {
  open = false;

  override get isOpen(): boolean {
    return this.open;
  }
}

const access = new SwitchedAccess(auth, node.clock, silentTelemetry);
const app = await serverOf(node);
const load = new HttpLoader();
const least = [Infinity, Infinity];
for (let turn = 0; turn < TURNS; turn++) {
  for (const at of turn % 2 === 0 ? [0, 1] : [1, 0]) {
    access.open = at === 0;
    least[at] = Math.min(least[at], await cpuMicros());
  }
}
const [open, guarded] = least as [number, number];
print(`open listener            ${open.toFixed(2)} µs of CPU per acquire`);
print(`auth: with ${TOKENS} tokens    ${guarded.toFixed(2)} µs (${(((guarded - open) / open) * 100).toFixed(1)} %)`);
print(`the guard alone          ${guardMicros().toFixed(2)} µs of that`);
print(`a new connection costs   ${loginMicros().toFixed(2)} µs more`);
await Promise.all([load.end(), app.close(), node.close()]);

async function serverOf(of: WholeNode): Promise<FastifyInstance> {
  const metrics = { scrape: async () => ({ contentType: 'text/plain', text: '' }) };
  const outcomes = createAcquireOutcomes();
  const made = await createHttpServer({ node: of, access, telemetry: silentTelemetry, outcomes, metrics });
  await made.listen({ host: '127.0.0.1', port: 0 });
  return made;
}

async function cpuMicros(): Promise<number> {
  const { port } = app.server.address() as { port: number };
  const place = { host: '127.0.0.1', port };
  const body = { group: 'orders', messages: 1, bytes: 100 };
  // The open listener is sent the same bytes.
  const token = tokens.at(-1) as string;
  return (await load.turn({ place, path: '/v1/acquire', body, token, forMs: TURN_MS })).cpuMicros;
}

/** The hook of a route with 32 connections that are known; mean of 200,000, the least of fifteen times. */
function guardMicros(): number {
  const app = fastify();
  let hook: ((...given: unknown[]) => void) | undefined;
  new RouteGuard(new Access(auth, node.clock, silentTelemetry), { remoteChanges: false, listensOn: '127.0.0.1' }).guard(
    app,
    new KnownPaths(app),
  );
  app.addHook('onRoute', (route) => {
    hook ??= [route.onRequest].flat()[0] as unknown as typeof hook;
  });
  app.post('/v1/acquire', { config: { access: needs('traffic') } }, () => 'x');
  const headers = { authorization: `Bearer ${tokens.at(-1)}` };
  const requests = Array.from({ length: 32 }, () => ({
    caller: undefined,
    socket: new Socket(),
    headers,
    method: 'POST',
  }));
  const reply = { header: () => reply };
  const done = (error?: Error) => {
    if (error !== undefined) throw error;
  };
  const times = Array.from({ length: 15 }, () => {
    const before = process.cpuUsage();
    for (let n = 0; n < 200_000; n++) hook?.(requests[n % 32], reply, done);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 200_000;
  });
  return Math.min(...times);
}

/** Mean of 20,000, the least of five times. */
function loginMicros(): number {
  const times = Array.from({ length: 5 }, () => {
    const beganMs = performance.now();
    for (let n = 0; n < 20_000; n++) access.byToken(tokens[n % TOKENS], '127.0.0.1', 'http');
    return (performance.now() - beganMs) / 20;
  });
  return Math.min(...times);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
