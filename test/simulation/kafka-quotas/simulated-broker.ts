import type { BrokerReading } from '../../../src/core/beside/kafka-quotas/next-water-level.js';

interface Sample {
  readonly beginMs: number;
  lastMs: number;
  bytes: number;
  requests: number;
  throttleMs: number;
}

/**
 * One client at one broker, as org.apache.kafka.common.metrics.stats.Rate and ClientQuotaManager have it: the mean over
 * `windows` spans of a second; who is above the quota waits until the mean is at it. Requests have `REQUEST_BYTES`, and
 * what the client cannot send is lost: it wants `demand`, whatever it got.
 */
export class SimulatedBroker {
  demand = 0;
  quota = Infinity;
  admitted = 0;
  readonly #windows: number;
  readonly #samples: Sample[] = [];
  #credit = 0;
  #silentUntilMs = 0;

  constructor(windows: number) {
    this.#windows = windows;
  }

  /** The client sends what it may until `nowMs`. */
  run(nowMs: number, stepMs: number): void {
    // A client has a quarter of a second of its demand under way at most.
    const most = Math.max(this.demand / 4, REQUEST_BYTES);
    this.#credit = Math.min(this.#credit + (this.demand * stepMs) / 1000, most);
    while (this.#credit >= REQUEST_BYTES && nowMs >= this.#silentUntilMs) this.#request(nowMs);
  }

  reading(nowMs: number): BrokerReading {
    this.#purge(nowMs);
    const requests = this.#samples.reduce((sum, sample) => sum + sample.requests, 0);
    const throttled = this.#samples.reduce((sum, sample) => sum + sample.throttleMs, 0);
    return { rate: this.#rate(nowMs), throttleMs: requests === 0 ? 0 : throttled / requests };
  }

  #request(nowMs: number): void {
    this.#credit -= REQUEST_BYTES;
    this.admitted += REQUEST_BYTES;
    const sample = this.#sample(nowMs);
    sample.bytes += REQUEST_BYTES;
    sample.lastMs = nowMs;
    sample.requests++;
    const rate = this.#rate(nowMs);
    if (rate <= this.quota) return;
    const waitMs = ((rate - this.quota) / this.quota) * this.#spanMs(nowMs);
    sample.throttleMs += waitMs;
    this.#silentUntilMs = nowMs + waitMs;
  }

  #sample(nowMs: number): Sample {
    this.#purge(nowMs);
    const last = this.#samples.at(-1);
    if (last !== undefined && nowMs - last.beginMs < WINDOW_MS) return last;
    const next = { beginMs: nowMs, lastMs: nowMs, bytes: 0, requests: 0, throttleMs: 0 };
    this.#samples.push(next);
    return next;
  }

  #rate(nowMs: number): number {
    const bytes = this.#samples.reduce((sum, sample) => sum + sample.bytes, 0);
    return (1000 * bytes) / this.#spanMs(nowMs);
  }

  /** At least all spans but the one that is filling count in full. */
  #spanMs(nowMs: number): number {
    const elapsedMs = nowMs - (this.#samples[0]?.beginMs ?? nowMs);
    const missing = Math.max(0, this.#windows - 1 - Math.floor(elapsedMs / WINDOW_MS));
    return Math.max(this.#windows === 1 ? WINDOW_MS : 1, elapsedMs + missing * WINDOW_MS);
  }

  /** A sample counts until its last request is that old, so that one more than `windows` of them overlap. */
  #purge(nowMs: number): void {
    while (this.#samples[0] !== undefined && nowMs - this.#samples[0].lastMs >= this.#windows * WINDOW_MS) {
      this.#samples.shift();
    }
  }
}

const WINDOW_MS = 1000;
const REQUEST_BYTES = 5000;
