import { Redis } from 'ioredis';
import { type RedisServer, startRedis } from '../../../test/redis/redis.js';
import type { Servers } from '../contender.js';

/** A Redis of its own for each contender, as bench:stores has it. */
export interface RedisStore {
  readonly redis: RedisServer;
  readonly servers: Servers;
}

export async function redisStore(): Promise<RedisStore> {
  const redis = await startRedis();
  let pid = await pidOf(redis);
  const store = {
    kill: () => redis.kill(),
    start: async () => {
      await redis.start();
      pid = await pidOf(redis);
    },
  };
  return { redis, servers: { address: redis.port, pids: () => [pid], store, stop: () => redis.stop() } };
}

/**
 * A client as both libraries' pages show it; without a queue and retries a dead Redis is told at once and not after
 * twenty tries.
 */
export async function redisClient(address: unknown): Promise<Redis> {
  const client = new Redis({
    host: '127.0.0.1',
    port: Number(address),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  });
  client.on('error', () => undefined);
  await new Promise((resolve) => client.once('ready', resolve));
  return client;
}

async function pidOf(redis: RedisServer): Promise<number> {
  return Number(/process_id:(\d+)/.exec(String(await redis.command('INFO', 'server')))?.[1]);
}
