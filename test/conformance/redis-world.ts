import type { RedisTopicConfig } from '../../src/topic/redis/kind.js';
import { RedisReportTopic } from '../../src/topic/redis/redis-report-topic.js';
import type { RedisServer } from '../redis/redis.js';
import { redisTopicConfig } from '../redis/redis-topic-config.js';
import type { TopicWorld } from './topic-scene.js';

/** One that REDIS_URL names is somebody else's, and not broken. */
export const REDIS_URL = process.env.REDIS_URL === undefined ? null : new URL(process.env.REDIS_URL);
const url = REDIS_URL;
/** Bounds what an outage takes, 300 times the median of an append. */
export const REDIS = { appendTimeoutMs: 1000 };

export function redisWorld(
  redis: RedisServer | null,
  log: 'reports' | 'registry',
  appendTimeoutMs: number,
): TopicWorld {
  const addresses = [redis?.address ?? `${url?.hostname}:${url?.port || 6379}`];
  const given: Partial<RedisTopicConfig> = {
    appendTimeoutMs,
    connectionTimeoutMs: appendTimeoutMs,
    requestTimeoutMs: appendTimeoutMs,
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
