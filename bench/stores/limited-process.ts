import fastifyRateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { createNode } from '../../src/index.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { isSystem, type Order, QUOTA, type Seen, type System } from './orders.js';

/** One process of a service: its limiter, and the requests that reach it. Each system has as many processes. */
const [, , kind = '', id = '', redisPort = ''] = process.argv;
if (!isSystem(kind)) throw new Error(`no system ${kind}`);
const TICK_MS = 5;
const GROUP = 'api';

type Answer = 'granted' | 'refused' | 'error';
interface Limiter {
  ask(): Promise<Answer> | Answer;
  close(): Promise<void>;
}

const limiter = await limiterOf(kind);
const seen: Seen = { grantedMs: [], refused: 0, errors: 0 };
let ratePerSecond = 0;
let sinceMs = performance.now();
let asked = 0;
let worstLatencyMs = 0;

setInterval(() => {
  const due = ((performance.now() - sinceMs) * ratePerSecond) / 1000;
  for (; asked < due; asked++) void ask();
}, TICK_MS);

process.on('message', (message) => void obey(message as Order));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

async function obey(order: Order): Promise<void> {
  if (order.kind === 'rate') {
    [ratePerSecond, sinceMs, asked] = [order.perSecond, performance.now(), 0];
  } else if (order.kind === 'burst') {
    for (let at = 0; at < order.requests; at++) void ask();
  } else if (order.kind === 'collect') {
    process.send?.({ ...seen, worstLatencyMs });
    Object.assign(seen, { grantedMs: [], refused: 0, errors: 0 });
    worstLatencyMs = 0;
  } else {
    ratePerSecond = 0;
    await limiter.close();
    process.exit(0);
  }
}

async function ask(): Promise<void> {
  const startMs = performance.now();
  const answer = await limiter.ask();
  worstLatencyMs = Math.max(worstLatencyMs, performance.now() - startMs);
  if (answer === 'granted') seen.grantedMs.push(epochNow());
  else if (answer === 'refused') seen.refused++;
  else seen.errors++;
}

function limiterOf(system: System): Promise<Limiter> {
  return { quotamesh, 'rate-limiter-flexible': flexible, '@fastify/rate-limit': ofFastify }[system]();
}

async function quotamesh(): Promise<Limiter> {
  const node = await createNode({
    nodeId: id,
    config: {
      cluster: 'bench',
      topic: { kind: 'redis', addresses: [`127.0.0.1:${redisPort}`], prefix: 'bench' },
      groups: { [GROUP]: { quota: { publish: { messagesPerSecond: QUOTA } } } },
    },
    env: {},
  });
  return {
    ask: () => {
      const { granted, ...refusal } = node.tryAcquire(GROUP, { messages: 1 });
      if (granted) return 'granted';
      return 'reason' in refusal && refusal.reason === 'quota' ? 'refused' : 'error';
    },
    close: () => node.close(),
  };
}

/** Both libraries as their pages show them; without retries, a dead Redis is told at once and not after 20 tries. */
function redisClient(): Redis {
  const client = new Redis({
    host: '127.0.0.1',
    port: Number(redisPort),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  });
  client.on('error', () => undefined);
  return client;
}

async function flexible(): Promise<Limiter> {
  const client = redisClient();
  await new Promise((resolve) => client.once('ready', resolve));
  const limiter = new RateLimiterRedis({ storeClient: client, points: QUOTA, duration: 1, keyPrefix: 'flexible' });
  return {
    ask: () =>
      limiter.consume(GROUP).then(
        () => 'granted',
        (reason: unknown) => (reason instanceof Error ? 'error' : 'refused'),
      ),
    close: async () => client.disconnect(),
  };
}

async function ofFastify(): Promise<Limiter> {
  const client = redisClient();
  await new Promise((resolve) => client.once('ready', resolve));
  const app = fastify();
  await app.register(fastifyRateLimit, { max: QUOTA, timeWindow: 1000, redis: client, keyGenerator: () => GROUP });
  app.get('/', async () => 'hello');
  await app.ready();
  return {
    ask: async () => {
      const { statusCode } = await app.inject('/');
      if (statusCode === 200) return 'granted';
      return statusCode === 429 ? 'refused' : 'error';
    },
    close: async () => {
      client.disconnect();
      await app.close();
    },
  };
}
