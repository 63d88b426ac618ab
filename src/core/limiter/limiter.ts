import { BYTES, DIMENSION_COUNT, MESSAGES, slotOf } from '../vocabulary.js';

/** Answers of `tryAcquire`; a refusal by a dimension is REFUSED + that dimension. */
export const GRANTED = 0;
/** The coordinator has not confirmed the lane's share: not served yet, not ready, or the event loop slept. */
export const UNCONFIRMED = 1;
export const REFUSED = 2;

/**
 * The limiter of one node: a lazy token bucket per slot, in columns (PIP-322, "Using an asynchronous token bucket";
 * here without its eventual consistency: one thread, so consumption is exact).
 *
 * Refill is computed from elapsed time when a lane is asked, so there is no timer. Tokens are doubles: the fraction of
 * a token is kept, 1 token per 10 s works. Consumption may leave a debt: an amount above the depth is admitted when the
 * bucket is full.
 *
 * Limits: Infinity = unlimited (tokens and depth are Infinity, rate 0, so that no arithmetic yields NaN); 0 = blocked
 * (depth NaN: every comparison with it is false, so nothing is ever enough, and a debt is still kept).
 *
 * Times are milliseconds of any monotonic clock, given by the caller.
 */
export class Limiter {
  readonly laneCount: number;
  /** Per slot: tokens per millisecond, bucket depth, tokens (negative = debt). */
  readonly rate: Float64Array;
  readonly depth: Float64Array;
  readonly tokens: Float64Array;
  /** Per lane: time of the last refill, and the time until which its limits are confirmed. */
  readonly refilledMs: Float64Array;
  readonly validUntilMs: Float64Array;
  /** Per slot, since creation: admitted; attempted for the first time, with squares for the noise rule; refused. */
  readonly admitted: Float64Array;
  readonly attempted: Float64Array;
  readonly attemptedSquares: Float64Array;
  readonly refused: Float64Array;
  /** Per lane, since creation: refusals, and refusals of work that had been refused before. */
  readonly refusals: Float64Array;
  readonly retryRefusals: Float64Array;
  readonly #hasAccrued: Uint8Array;

  constructor(laneCount: number) {
    const slots = laneCount * DIMENSION_COUNT;
    this.laneCount = laneCount;
    this.rate = new Float64Array(slots);
    this.depth = new Float64Array(slots).fill(Number.NaN);
    this.tokens = new Float64Array(slots);
    this.refilledMs = new Float64Array(laneCount);
    this.validUntilMs = new Float64Array(laneCount).fill(Number.NEGATIVE_INFINITY);
    this.admitted = new Float64Array(slots);
    this.attempted = new Float64Array(slots);
    this.attemptedSquares = new Float64Array(slots);
    this.refused = new Float64Array(slots);
    this.refusals = new Float64Array(laneCount);
    this.retryRefusals = new Float64Array(laneCount);
    this.#hasAccrued = new Uint8Array(laneCount);
  }

  /**
   * Takes both amounts or none: the stricter dimension wins, nothing is charged when one refuses.
   * `retry` = this work was refused before: it counts as admitted when it is, but is not demand a second time.
   */
  tryAcquire(lane: number, messages: number, bytes: number, retry: boolean, nowMs: number): number {
    if (nowMs > (this.validUntilMs[lane] as number)) return UNCONFIRMED;
    const first = lane * DIMENSION_COUNT;
    const second = first + 1;
    this.#refill(lane, first, nowMs);
    if (!retry) this.#count(first, messages, bytes);
    const refusedBy = this.#refusedBy(first, messages, bytes);
    if (refusedBy !== -1) {
      this.#countRefusal(lane, first, messages, bytes, retry);
      return REFUSED + refusedBy;
    }
    this.tokens[first] = (this.tokens[first] as number) - messages;
    this.tokens[second] = (this.tokens[second] as number) - bytes;
    this.admitted[first] = (this.admitted[first] as number) + messages;
    this.admitted[second] = (this.admitted[second] as number) + bytes;
    return GRANTED;
  }

  /** Milliseconds until this amount could be admitted if nobody else took anything; Infinity while blocked. */
  waitMs(lane: number, messages: number, bytes: number, nowMs: number): number {
    const first = lane * DIMENSION_COUNT;
    this.#refill(lane, first, nowMs);
    return Math.max(this.#waitOf(first + MESSAGES, messages), this.#waitOf(first + BYTES, bytes));
  }

  /** Tokens there are now, ≥ 0, for the RateLimit header; Infinity without quota. */
  available(lane: number, dimension: number, nowMs: number): number {
    this.#refill(lane, lane * DIMENSION_COUNT, nowMs);
    return Math.max(0, this.tokens[slotOf(lane, dimension)] as number);
  }

  /**
   * Changes a limit in place: what has accrued at the old rate counts, debt is kept, nothing is minted.
   * A slot that had no finite limit before starts empty.
   *
   * @param perSecond units per second; Infinity = unlimited, 0 = blocked
   * @param depth units, > 0
   */
  setLimit(lane: number, dimension: number, perSecond: number, depth: number, nowMs: number): void {
    this.#refill(lane, lane * DIMENSION_COUNT, nowMs);
    const slot = slotOf(lane, dimension);
    const tokens = this.tokens[slot] as number;
    if (perSecond === Number.POSITIVE_INFINITY) {
      this.rate[slot] = 0;
      this.depth[slot] = Number.POSITIVE_INFINITY;
      this.tokens[slot] = Number.POSITIVE_INFINITY;
      return;
    }
    this.rate[slot] = perSecond / 1000;
    this.depth[slot] = perSecond === 0 ? Number.NaN : depth;
    this.tokens[slot] = tokens === Number.POSITIVE_INFINITY ? 0 : Math.min(tokens, depth);
  }

  /** Empties the buckets of a lane, keeping debts: after a pause nothing that accrued meanwhile may burst. */
  empty(lane: number, nowMs: number): void {
    this.refilledMs[lane] = nowMs;
    for (let slot = slotOf(lane, 0); slot < slotOf(lane + 1, 0); slot++) {
      if ((this.tokens[slot] as number) > 0 && this.depth[slot] !== Number.POSITIVE_INFINITY) this.tokens[slot] = 0;
    }
  }

  /**
   * Fills the buckets of a lane that is served for the first time, as if it had existed, idle, since that time. Later
   * calls change nothing: a lane that is served again has what it had, and to credit its idle time twice would wipe out
   * a debt.
   */
  accrueSince(lane: number, sinceMs: number): void {
    if (this.#hasAccrued[lane] === 1) return;
    this.#hasAccrued[lane] = 1;
    this.refilledMs[lane] = sinceMs;
  }

  #refill(lane: number, first: number, nowMs: number): void {
    const elapsedMs = nowMs - (this.refilledMs[lane] as number);
    // A clock that steps back costs nothing and mints nothing: the time already credited is not credited again.
    if (elapsedMs <= 0) return;
    this.refilledMs[lane] = nowMs;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      const tokens = (this.tokens[slot] as number) + elapsedMs * (this.rate[slot] as number);
      const depth = this.depth[slot] as number;
      this.tokens[slot] = tokens > depth ? depth : tokens;
    }
  }

  #refusedBy(first: number, messages: number, bytes: number): number {
    if (messages > 0 && !this.#isEnough(first + MESSAGES, messages)) return MESSAGES;
    if (bytes > 0 && !this.#isEnough(first + BYTES, bytes)) return BYTES;
    return -1;
  }

  #isEnough(slot: number, amount: number): boolean {
    const depth = this.depth[slot] as number;
    return (this.tokens[slot] as number) >= (amount < depth ? amount : depth);
  }

  #waitOf(slot: number, amount: number): number {
    if (amount <= 0 || this.#isEnough(slot, amount)) return 0;
    const rate = this.rate[slot] as number;
    if (rate === 0) return Number.POSITIVE_INFINITY;
    return (Math.min(amount, this.depth[slot] as number) - (this.tokens[slot] as number)) / rate;
  }

  #count(first: number, messages: number, bytes: number): void {
    const second = first + 1;
    this.attempted[first] = (this.attempted[first] as number) + messages;
    this.attempted[second] = (this.attempted[second] as number) + bytes;
    this.attemptedSquares[first] = (this.attemptedSquares[first] as number) + messages * messages;
    this.attemptedSquares[second] = (this.attemptedSquares[second] as number) + bytes * bytes;
  }

  #countRefusal(lane: number, first: number, messages: number, bytes: number, retry: boolean): void {
    this.refused[first] = (this.refused[first] as number) + messages;
    this.refused[first + 1] = (this.refused[first + 1] as number) + bytes;
    this.refusals[lane] = (this.refusals[lane] as number) + 1;
    if (retry) this.retryRefusals[lane] = (this.retryRefusals[lane] as number) + 1;
  }
}
