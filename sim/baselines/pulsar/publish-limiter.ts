import { AsyncTokenBucket } from './async-token-bucket.js';

/**
 * The limiter of a group at one broker. What arrives is charged to both buckets whatever they hold. When one of them is
 * empty, the producer is paused until both have 1 % of their capacity again.
 *
 * All connections of a broker are one producer here, and a paused producer has nothing in flight. That favours Pulsar:
 * its wake-up releases the whole queue at once.
 */
export class PublishLimiter {
  #buckets: readonly [AsyncTokenBucket | null, AsyncTokenBucket | null] = [null, null];
  #pausedUntilMs = -Infinity;

  /**
   * Starts two new, full buckets, and wakes everybody who is paused: each calculation forgives the debts.
   *
   * @param quotas messages/s and bytes/s; ≤ 0 = no limit, as the limiter takes it
   */
  replace(quotas: readonly [number, number], nowMs: number): void {
    const bucketOf = (quota: number) => (quota > 0 ? new AsyncTokenBucket(quota, nowMs) : null);
    this.#buckets = [bucketOf(quotas[0]), bucketOf(quotas[1])];
    this.#pausedUntilMs = -Infinity;
  }

  tryAcquire(messages: number, bytes: number, nowMs: number): boolean {
    if (this.#isPaused(nowMs)) return false;
    const [ofMessages, ofBytes] = this.#buckets;
    const hasMessages = ofMessages?.consume(messages, nowMs) ?? true;
    const hasBytes = ofBytes?.consume(bytes, nowMs) ?? true;
    if (!hasMessages || !hasBytes) this.#pausedUntilMs = nowMs + this.#throttlingMs(nowMs);
    return true;
  }

  rate(dimension: 0 | 1): number {
    return this.#buckets[dimension]?.rate ?? Infinity;
  }

  /** When the buckets hold too little at the time of the wake-up, the wake-up is planned again. */
  #isPaused(nowMs: number): boolean {
    if (this.#pausedUntilMs === -Infinity) return false;
    if (nowMs < this.#pausedUntilMs) return true;
    const waitMs = this.#throttlingMs(nowMs);
    this.#pausedUntilMs = waitMs === 0 ? -Infinity : nowMs + waitMs;
    return waitMs > 0;
  }

  #throttlingMs(nowMs: number): number {
    return Math.max(...this.#buckets.map((bucket) => bucket?.throttlingMs(nowMs) ?? 0));
  }
}
