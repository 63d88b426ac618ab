import { AsyncTokenBucket } from './async-token-bucket.js';

/**
 * Limits a group at a broker: charges arrivals, and pauses the producer when a bucket is empty until both have 1 %. All
 * connections are one producer with nothing in flight, in Pulsar's favour.
 */
export class PublishLimiter {
  #buckets: readonly [AsyncTokenBucket | null, AsyncTokenBucket | null] = [null, null];
  #pausedUntilMs = -Infinity;

  /**
   * Starts two full buckets, and wakes the paused. So each calculation forgives debts. @param quotas messages/s and
   * bytes/s; ≤ 0 = no limit, as the limiter takes it
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

  /** Ends the pause if tokens suffice; else plans the next test. */
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
