import { GRANTED, Limiter } from '../../src/core/limiter/limiter.js';
import { type Quota, rateOf } from './baseline.js';

/** Seconds of quotamesh's default burst; at least 20 pieces, at most a quarter second (docs/decisions/0156). */
const BURST_SECONDS = 0.1;
const BURST_MIN_SECONDS = 0.25;
const BURST_MIN_PIECES = 20;
/** Units of a piece of work. */
export const PIECE = [1, 1000] as const;

/** Limits baselines whose source has no limiter. Our bucket does it, in their favour. */
export class PlainLimiter {
  readonly #limiter = new Limiter(1);
  #rates: readonly [number, number] = [0, 0];

  constructor() {
    this.#limiter.validUntilMs.set(0, Infinity);
  }

  /** @param depths units; null = as deep as quotamesh's default */
  setRates(rates: Quota, nowMs: number, depths: readonly [number | null, number | null] = [null, null]): void {
    this.#rates = [rateOf(rates, 0), rateOf(rates, 1)];
    const [messages, bytes] = this.#rates;
    this.#limiter.setLimit(0, 0, messages, depths[0] ?? depthOf(messages, 0), nowMs);
    this.#limiter.setLimit(0, 1, bytes, depths[1] ?? depthOf(bytes, 1), nowMs);
  }

  tryAcquire(messages: number, bytes: number, retry: boolean, nowMs: number): boolean {
    return this.#limiter.tryAcquire(0, messages, bytes, retry, nowMs) === GRANTED;
  }

  rate(dimension: 0 | 1): number {
    return this.#rates[dimension];
  }
}

function depthOf(rate: number, dimension: 0 | 1): number {
  const least = Math.max(1, Math.min(BURST_MIN_PIECES * PIECE[dimension], rate * BURST_MIN_SECONDS));
  return Math.max(rate * BURST_SECONDS, least);
}
