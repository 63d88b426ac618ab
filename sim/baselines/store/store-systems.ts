import type { BaselineEnvironment } from '../baseline.js';
import { PlainLimiter } from '../plain-limiter.js';
import { FixedWindows } from './fixed-windows.js';
import { type Store, StoreCluster } from './store-cluster.js';

/** Units of messages and bytes. */
type Depths = readonly [number | null, number | null];

export interface StoreSystem {
  readonly name: string;
  readonly says: string;
  create(environment: BaselineEnvironment): StoreCluster;
}

/**
 * Lists systems with a store. @param roundTripMs mean time of a question; each is drawn
 * @param depthsOf depth of the bucket; null = as PlainLimiter, for systems whose source names none
 */
export function storeSystems(
  roundTripMs: number,
  depthsOf: (environment: BaselineEnvironment) => Depths = () => [null, null],
): readonly StoreSystem[] {
  const system = (name: string, says: string, storeOf: (environment: BaselineEnvironment) => Store): StoreSystem => ({
    name,
    says,
    create: (environment) => new StoreCluster(name, environment, storeOf(environment), roundTripMs),
  });
  return [
    system('central-bucket', 'one token bucket in a store that is asked for each request', (environment) =>
      centralBucket(environment, depthsOf(environment)),
    ),
    system(
      'rate-limiter-flexible',
      'the fixed window of rate-limiter-flexible, in a store that is asked for each request',
      ({ quota, quotaPerMs }) => FixedWindows.ofRateLimiterFlexible(quota, quotaPerMs),
    ),
    system(
      'fastify-rate-limit',
      'the fixed window of @fastify/rate-limit, which counts requests, in a store that is asked for each request',
      ({ quota, quotaPerMs }) => FixedWindows.ofFastifyRateLimit(quota, quotaPerMs),
    ),
  ];
}

function centralBucket({ quota, queue }: BaselineEnvironment, depths: Depths): Store {
  const limiter = new PlainLimiter();
  limiter.setRates(quota, queue.nowMs, depths);
  return { questions: 1, take: (messages, bytes, nowMs) => limiter.tryAcquire(messages, bytes, false, nowMs) };
}
