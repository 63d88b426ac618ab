import { afterAll, beforeAll, describe } from 'vitest';
import type { RedisTopicConfig } from '../../src/config/resolved/resolved-config.js';
import { RedisReportTopic } from '../../src/topic/redis/redis-report-topic.js';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { findRedis } from '../redis/redis-source.js';
import { redisTopicConfig } from '../redis/redis-topic-config.js';
import { reportTopicConformance } from './report-topic.js';
import { signedRecords } from './signed-records.js';
import type { TopicWorld } from './topic-scene.js';

const appendTimeoutMs = 1000;
const url = process.env.REDIS_URL === undefined ? null : new URL(process.env.REDIS_URL);
const isHere = url !== null || (await findRedis()) !== null;

describe.skipIf(!isHere)('on a real Redis', () => {
  // A server of its own: outages are made by freezing it. One that REDIS_URL names is somebody else's, and not broken.
  let redis: RedisServer | null = null;
  beforeAll(async () => {
    if (url === null) redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  for (const log of ['reports', 'registry'] as const) {
    const options = { appendTimeoutMs, deadlineMs: 15_000 };
    reportTopicConformance(`redis, ${log}`, async () => makeWorld(redis, log), options);
    signedRecords(`redis, ${log}`, async () => makeWorld(redis, log), { ...options, heals: log === 'registry' });
  }
});

function makeWorld(redis: RedisServer | null, log: 'reports' | 'registry'): TopicWorld {
  const addresses = [redis?.address ?? `${url?.hostname}:${url?.port || 6379}`];
  const given: Partial<RedisTopicConfig> = {
    username: url?.username || null,
    password: url?.password ? decodeURIComponent(url.password) : null,
    db: Number(url?.pathname.slice(1) || 0),
    tls: url?.protocol === 'rediss:',
  };
  const config = redisTopicConfig(addresses, given);
  const world: TopicWorld = {
    makeTopic: () => new RedisReportTopic({ cluster: 'c', log }, config, { keepsForever: log === 'registry' }),
    dispose: async () => {},
  };
  if (redis === null) return world;
  return {
    ...world,
    compact: async () => {
      await redis.command('XTRIM', `${config.prefix}c:${log}:log`, 'MAXLEN', 0);
    },
    breakTopic: () => redis.freeze(),
    healTopic: () => redis.thaw(),
  };
}
