import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Contender } from '../contender.js';
import { redisClient, redisStore } from './redis-store.js';

const WINDOW_S = 1;

export const contender: Contender = {
  name: 'rate-limiter-flexible',
  burstOf: ({ perSecond }) => `a window of 1 s, its least: ${perSecond} at once, ${2 * perSecond} around its edge`,
  atOnce: ({ perSecond }) => perSecond * WINDOW_S,
  start: async () => (await redisStore()).servers,
  join: async (_node, { perSecond }, address) => {
    const storeClient = await redisClient(address);
    const points = perSecond * WINDOW_S;
    const limiter = new RateLimiterRedis({ storeClient, points, duration: WINDOW_S, keyPrefix: 'race' });
    return {
      ask: (key) =>
        limiter.consume(key).then(
          () => true,
          (reason: unknown) => {
            if (reason instanceof Error) throw reason;
            return false;
          },
        ),
      close: async () => storeClient.disconnect(),
    };
  },
};
