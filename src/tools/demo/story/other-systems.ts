import { PlainLimiter } from '../../../../sim/baselines/plain-limiter.js';
import type { Answer, Work } from '../traffic/node-clients.js';
import { STORY_BURST } from './acts.js';

const RETRY_AFTER_MS = 20;

/**
 * Limits by one bucket without distance or outages, the best that a central store can give; or as a static split, with
 * a bucket of quota and burst ÷ nodes each.
 */
export class BucketSystem {
  readonly acquire: readonly ((work: Work) => Promise<Answer>)[];
  readonly #buckets: readonly PlainLimiter[];
  readonly #nowMs: () => number;

  private constructor(nodes: number, buckets: number, nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#buckets = Array.from({ length: buckets }, () => new PlainLimiter());
    this.acquire = Array.from({ length: nodes }, (_, node) => async ({ refusedBefore }: Work): Promise<Answer> => {
      const bucket = this.#buckets[node % buckets];
      const granted = bucket.tryAcquire(1, 0, refusedBefore, nowMs());
      return granted ? { kind: 'granted' } : { kind: 'refused', retryAfterMs: RETRY_AFTER_MS };
    });
  }

  static central(nodes: number, nowMs: () => number): BucketSystem {
    return new BucketSystem(nodes, 1, nowMs);
  }

  static split(nodes: number, nowMs: () => number): BucketSystem {
    return new BucketSystem(nodes, nodes, nowMs);
  }

  /** Changes the quota everywhere at once; the burst stays. */
  setQuota(messagesPerSecond: number): void {
    const parts = this.#buckets.length;
    const rates = { messagesPerSecond: messagesPerSecond / parts, bytesPerSecond: Infinity };
    for (const bucket of this.#buckets) bucket.setRates(rates, this.#nowMs(), [STORY_BURST / parts, null]);
  }
}
