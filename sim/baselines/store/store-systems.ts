import type { BaselineEnvironment } from '../baseline.js';
import { PlainLimiter } from '../plain-limiter.js';
import { FixedWindows } from './fixed-windows.js';
import { StoreCluster } from './store-cluster.js';

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
  return [
    {
      name: 'central-bucket',
      says: 'one token bucket in a store that is asked for each request',
      create: (environment) => {
        const bucket = centralBucket(environment, depthsOf(environment));
        return new StoreCluster('central-bucket', environment, bucket, roundTripMs);
      },
    },
    {
      name: 'rate-limiter-flexible',
      says: 'the fixed window of rate-limiter-flexible, in a store that is asked for each request',
      create: (environment) => {
        const windows = FixedWindows.ofRateLimiterFlexible(environment.quota, environment.quotaPerMs);
        return new StoreCluster('rate-limiter-flexible', environment, windows, roundTripMs);
      },
    },
    {
      name: 'fastify-rate-limit',
      says: 'the fixed window of @fastify/rate-limit, which counts requests, in a store that is asked for each request',
      create: (environment) => {
        const windows = FixedWindows.ofFastifyRateLimit(environment.quota, environment.quotaPerMs);
        return new StoreCluster('fastify-rate-limit', environment, windows, roundTripMs);
      },
    },
  ];
}

function centralBucket({ quota, queue }: BaselineEnvironment, depths: Depths) {
  const limiter = new PlainLimiter();
  limiter.setRates(quota, queue.nowMs, depths);
  return {
    questions: 1,
    take: (messages: number, bytes: number, nowMs: number) => limiter.tryAcquire(messages, bytes, false, nowMs),
  };
}
