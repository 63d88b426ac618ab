import { GRANTED, Limiter } from '../../src/core/limiter/limiter.js';
import { type Quota, rateOf } from './baseline.js';

/** Burst of 100 ms, at least 20 messages: quotamesh's own default, so that only the rates differ. */
const BURST_SECONDS = 0.1;
const BURST_MIN_MESSAGES = 20;

/**
 * The limiter of baselines whose source names none: the production bucket of quotamesh. That favours them: it keeps
 * debts and mints nothing when the rate changes.
 */
export class PlainLimiter {
  readonly #limiter = new Limiter(1);
  #rates: readonly [number, number] = [0, 0];

  constructor() {
    this.#limiter.validUntilMs[0] = Number.POSITIVE_INFINITY;
  }

  setRates(rates: Quota, nowMs: number): void {
    this.#rates = [rateOf(rates, 0), rateOf(rates, 1)];
    const [messages, bytes] = this.#rates;
    this.#limiter.setLimit(0, 0, messages, Math.max(messages * BURST_SECONDS, BURST_MIN_MESSAGES), nowMs);
    this.#limiter.setLimit(0, 1, bytes, Math.max(bytes * BURST_SECONDS, 1), nowMs);
  }

  tryAcquire(messages: number, bytes: number, retry: boolean, nowMs: number): boolean {
    return this.#limiter.tryAcquire(0, messages, bytes, retry, nowMs) === GRANTED;
  }

  rate(dimension: 0 | 1): number {
    return this.#rates[dimension];
  }
}
