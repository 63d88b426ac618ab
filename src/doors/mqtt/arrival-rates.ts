import type { MqttConfig } from '../../config/resolved/resolved-config.js';
import { KeyedBuckets } from '../../core/limiter/keyed-buckets.js';
import { OneBucket } from '../../core/limiter/one-bucket.js';

export class ArrivalRates {
  readonly #connects: OneBucket;
  readonly #subscribes: KeyedBuckets | null;

  constructor({ connectsPerSecond, subscribesPerSecond }: MqttConfig, nowMs: number) {
    this.#connects = new OneBucket(connectsPerSecond, Math.max(1, connectsPerSecond), nowMs);
    this.#subscribes = subscribeBuckets(subscribesPerSecond);
  }

  mayConnect(nowMs: number): boolean {
    return this.#connects.take(nowMs) === 0;
  }

  /** Takes a subscription: returns milliseconds until it may be, 0 = taken. */
  subscribeWaitMs(clientId: string, nowMs: number): number {
    const keyed = this.#subscribes;
    if (keyed === null) return 0;
    const row = keyed.rowOf(clientId, nowMs);
    if (row === -1) return SUBSCRIBERS_FULL_WAIT_MS;
    return keyed.buckets.tryTake(row, 1, 0, nowMs) === -1 ? 0 : keyed.buckets.waitMs(row, 1, 0, nowMs);
  }

  /** Forgets clients that have gone. */
  sweep(nowMs: number): void {
    this.#subscribes?.sweep(nowMs, 0, SWEPT_ROWS);
  }
}

const SUBSCRIBERS_MAX = 100_000;
const SUBSCRIBERS_FULL_WAIT_MS = 1000;
const SWEPT_ROWS = 16;

function subscribeBuckets(perSecond: number | null): KeyedBuckets | null {
  if (perSecond === null) return null;
  const { POSITIVE_INFINITY: unlimited } = Number;
  return new KeyedBuckets(SUBSCRIBERS_MAX, [perSecond, unlimited], [Math.max(1, perSecond), unlimited]);
}
