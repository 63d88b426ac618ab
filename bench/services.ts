import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { quota } from '../src/doors/services/express.js';
import { QuotameshStore } from '../src/doors/stores/express-rate-limit.js';
import { RateLimiterQuotamesh } from '../src/doors/stores/rate-limiter-flexible.js';
import { createNode } from '../src/index.js';

/**
 * What a limiter costs a request that it admits, in CPU of this process: rounds of each in turn, the order turned round
 * every other time; least, median and greatest of the rounds. First the middlewares called as Express calls them, without
 * a socket; then Express on a socket, beside the app without any.
 */
const ROUNDS = Number(process.argv[2] ?? 15);
const CALLS = 20_000;
const LIMIT = 1_000_000_000;

const group = { quota: { publish: { messagesPerSecond: LIMIT } } };
const node = await createNode({
  config: { cluster: 'bench-services', node: 'bench', topic: 'memory', groups: { 'key:a': group } },
  env: {},
});
await node.acquire('key:a', { messages: 1 }, { waitMs: 10_000 });
const counted = { limit: LIMIT, windowMs: 60_000, keyGenerator: () => 'key:a', validate: false };

const handlers: Readonly<Record<string, RequestHandler>> = {
  'no limiter': (_request, _response, next) => next(),
  'quotamesh/express': quota(node, { group: () => 'key:a' }),
  'quotamesh/express, no headers': quota(node, { group: () => 'key:a', headers: 'none' }),
  'express-rate-limit, its memory store': rateLimit(counted),
  'express-rate-limit, our store': rateLimit({ ...counted, store: new QuotameshStore(node) }),
};
const memory = new RateLimiterMemory({ points: LIMIT, duration: 60 });
const ours = new RateLimiterQuotamesh(node, { points: LIMIT });
const consumers = {
  'rate-limiter-flexible, memory': () => memory.consume('key:a'),
  'rate-limiter-flexible, ours': () => ours.consume('key:a'),
};

const request = { ip: '127.0.0.1', headers: {}, app: { get: () => false } };
const response = { headersSent: false, set: () => response, setHeader: () => response, append: () => response };
await measured('µs of CPU per call', {
  ...mapped(handlers, (handler) => async () => {
    for (let call = 0; call < CALLS; call++) {
      if (call % 100 === 0) await turn();
      await new Promise<void>((resolve, reject) => {
        const done = (error?: unknown) => (error === undefined ? resolve() : reject(error));
        handler(request as never, response as never, done as never);
      });
    }
    return CALLS;
  }),
  ...mapped(consumers, (consume) => async () => {
    for (let call = 0; call < CALLS; call++) {
      if (call % 100 === 0) await turn();
      await consume();
    }
    return CALLS;
  }),
});

const REQUESTS = 600;
const servers: Server[] = [];
const urls = await Promise.all(Object.values(handlers).map(serverOf));
const names = Object.keys(handlers);
await measured('µs of CPU per HTTP request, with the client in the same process', {
  ...mapped(Object.fromEntries(names.map((name, at) => [name, urls[at]])), (url) => async () => {
    for (let at = 0; at < REQUESTS; at += 20) {
      await Promise.all(Array.from({ length: 20 }, async () => (await fetch(url)).text()));
    }
    return REQUESTS;
  }),
});
for (const server of servers) {
  server.close();
  server.closeAllConnections();
}
await node.close();

/** Lets the node have its rounds: without them it would not be ready soon. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function serverOf(handler: RequestHandler): Promise<string> {
  const app = express();
  app.use(handler, (_request, answer) => void answer.send('hello'));
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Each `run` resolves with how many it has done. */
async function measured(what: string, runs: Readonly<Record<string, () => Promise<number>>>): Promise<void> {
  const times: Record<string, number[]> = mapped(runs, () => []);
  for (let round = -1; round < ROUNDS; round++) {
    const entries = Object.entries(runs);
    for (const [name, run] of round % 2 === 0 ? entries : entries.reverse()) {
      const before = process.cpuUsage();
      const done = await run();
      const { user, system } = process.cpuUsage(before);
      // The first round warms up.
      if (round >= 0) times[name]?.push((user + system) / done);
    }
  }
  process.stdout.write(`\n${what}: least, median, greatest of ${ROUNDS} rounds\n`);
  for (const [name, all] of Object.entries(times)) {
    const sorted = all.sort((one, other) => one - other);
    const shown = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) => sorted[at]?.toFixed(2).padStart(8));
    process.stdout.write(`${name.padEnd(40)}${shown.join('')}\n`);
  }
}

function mapped<From, To>(of: Readonly<Record<string, From>>, to: (each: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(of).map(([name, each]) => [name, to(each)]));
}
