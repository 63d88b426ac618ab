import type { BaselineEnvironment } from '../baseline.js';
import { PlainLimiter } from '../plain-limiter.js';
import { FixedWindows } from './fixed-windows.js';
import { StoreCluster } from './store-cluster.js';

export interface StoreSystem {
  readonly name: string;
  readonly says: string;
  create(environment: BaselineEnvironment): StoreCluster;
}

/** @param roundTripMs mean time from a question to its answer; the time of each is drawn */
export function storeSystems(roundTripMs: number): readonly StoreSystem[] {
  return [
    {
      name: 'central-bucket',
      says: 'one token bucket in a store that is asked for each request',
      create: (environment) => new StoreCluster('central-bucket', environment, centralBucket(environment), roundTripMs),
    },
    {
      name: 'rate-limiter-flexible',
      says: 'the fixed window of rate-limiter-flexible, in a store that is asked for each request',
      create: (environment) => {
        const windows = new FixedWindows(environment.quota);
        return new StoreCluster('rate-limiter-flexible', environment, windows, roundTripMs);
      },
    },
  ];
}

/** Makes a bucket as deep as that of PlainLimiter, for systems whose source names no limiter. */
function centralBucket({ quota, queue }: BaselineEnvironment) {
  const limiter = new PlainLimiter();
  limiter.setRates(quota, queue.nowMs);
  return {
    questions: 1,
    take: (messages: number, bytes: number, nowMs: number) => limiter.tryAcquire(messages, bytes, false, nowMs),
  };
}
