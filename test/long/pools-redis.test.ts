import { afterAll, beforeAll, describe } from 'vitest';
import { poolsPromises } from '../cluster/pools-promises.js';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { findRedis } from '../redis/redis-source.js';

const isHere = (await findRedis()) !== null;
let topics = 0;

describe.skipIf(!isHere)('on a real Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  poolsPromises('redis', async () => {
    return { kind: 'redis', addresses: [redis.address], prefix: `pools-${process.pid}-${topics++}:` };
  });
});
