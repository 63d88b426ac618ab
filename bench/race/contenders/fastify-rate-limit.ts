import fastifyRateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import type { Contender } from '../contender.js';
import { redisClient, redisStore } from './redis-store.js';

const WINDOW_MS = 1000;
const SECOND_MS = 1000;

/** It exists within fastify only, so that a request goes through a route, without a network (`inject`). */
export const contender: Contender = {
  name: '@fastify/rate-limit',
  burstOf: ({ perSecond }) => `a window of 1 s: ${perSecond} at once, ${2 * perSecond} around its edge`,
  atOnce: ({ perSecond }) => (perSecond * WINDOW_MS) / SECOND_MS,
  start: async () => (await redisStore()).servers,
  join: async (_node, { key, perSecond }, address) => {
    const redis = await redisClient(address);
    const app = fastify();
    const max = (perSecond * WINDOW_MS) / SECOND_MS;
    await app.register(fastifyRateLimit, { max, timeWindow: WINDOW_MS, redis, keyGenerator: () => key });
    app.get('/', async () => 'hello');
    await app.ready();
    return {
      ask: async () => {
        const { statusCode } = await app.inject('/');
        if (statusCode !== 200 && statusCode !== 429) throw new Error(`status ${statusCode}`);
        return statusCode === 200;
      },
      close: async () => {
        redis.disconnect();
        await app.close();
      },
    };
  },
};
