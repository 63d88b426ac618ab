import { afterAll, beforeAll, describe } from 'vitest';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { findRedis } from '../redis/redis-source.js';
import { REDIS, REDIS_URL, redisWorld } from './redis-world.js';
import { registryConformance } from './registry.js';
import { reportTopicConformance } from './report-topic.js';
import { signedRecords } from './signed-records.js';

const isHere = REDIS_URL !== null || (await findRedis()) !== null;

describe.skipIf(!isHere)('on a real Redis', () => {
  // A server of its own: outages are made by freezing it.
  let redis: RedisServer | null = null;
  beforeAll(async () => {
    if (REDIS_URL === null) redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  for (const log of ['reports', 'registry'] as const) {
    const options = { ...REDIS, deadlineMs: 20_000 };
    const makeWorld = async (timeoutMs: number) => redisWorld(redis, log, timeoutMs);
    reportTopicConformance(`redis, ${log}`, makeWorld, options);
    signedRecords(`redis, ${log}`, makeWorld, { ...options, heals: log === 'registry' });
  }
  registryConformance('redis', async () => redisWorld(redis, 'registry', 4000));
});
