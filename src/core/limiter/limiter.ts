import { BYTES, DIMENSION_COUNT, MESSAGES } from '../vocabulary.js';
import { Buckets, isEnough } from './buckets.js';

/** Answers of `tryAcquire`; a refusal by a dimension is REFUSED + that dimension. */
export const GRANTED = 0;
/** The coordinator has not confirmed the lane's share: not served yet, not ready, or the event loop slept. */
export const UNCONFIRMED = 1;
export const REFUSED = 2;

/**
 * The limiter of one node: a row of buckets per lane (buckets.ts), confirmed until a time, and what went through them.
 * Other levels (node, topic, client) stand beside it in levels.ts and cost nothing here.
 */
export class Limiter {
  readonly laneCount: number;
  readonly buckets: Buckets;
  /** Per slot: tokens (negative = debt); the buckets' own column. */
  readonly tokens: Float64Array;
  /** Per lane: the time until which its limits are confirmed. */
  readonly validUntilMs: Float64Array;
  /** Per slot, since creation: admitted; attempted for the first time, with squares for the noise rule; refused. */
  readonly admitted: Float64Array;
  readonly attempted: Float64Array;
  readonly attemptedSquares: Float64Array;
  readonly refused: Float64Array;
  /** Per lane, since creation: refusals, and refusals of work that had been refused before. */
  readonly refusals: Float64Array;
  readonly retryRefusals: Float64Array;
  /** Per lane: connections and asks that are held back now, instead of refused. */
  readonly heldBack: Uint32Array;
  readonly #hasAccrued: Uint8Array;
  /** The buckets' own columns: a limiter's rows do not grow, and a hop less is 2 ns less. */
  readonly #depth: Float64Array;
  readonly #refilledMs: Float64Array;

  constructor(laneCount: number) {
    const slots = laneCount * DIMENSION_COUNT;
    this.laneCount = laneCount;
    this.buckets = new Buckets(laneCount);
    this.tokens = this.buckets.tokens;
    this.#depth = this.buckets.depth;
    this.#refilledMs = this.buckets.refilledMs;
    this.validUntilMs = new Float64Array(laneCount).fill(Number.NEGATIVE_INFINITY);
    this.admitted = new Float64Array(slots);
    this.attempted = new Float64Array(slots);
    this.attemptedSquares = new Float64Array(slots);
    this.refused = new Float64Array(slots);
    this.refusals = new Float64Array(laneCount);
    this.retryRefusals = new Float64Array(laneCount);
    this.heldBack = new Uint32Array(laneCount);
    this.#hasAccrued = new Uint8Array(laneCount);
  }

  /**
   * Takes both amounts or none: the stricter dimension wins, nothing is charged when one refuses.
   * `retry` = this work was refused before: it counts as admitted when it is, but is not demand a second time.
   */
  tryAcquire(lane: number, messages: number, bytes: number, retry: boolean, nowMs: number): number {
    if (nowMs > (this.validUntilMs[lane] as number)) return UNCONFIRMED;
    if (nowMs !== (this.#refilledMs[lane] as number)) this.buckets.refill(lane, nowMs);
    if (!retry) this.#count(lane, messages, bytes);
    const first = lane * DIMENSION_COUNT;
    const { tokens } = this;
    const messageTokens = tokens[first] as number;
    const byteTokens = tokens[first + 1] as number;
    if (!isEnough(messageTokens, this.#depth[first] as number, messages)) {
      return this.#refuse(lane, messages, bytes, retry, MESSAGES);
    }
    if (!isEnough(byteTokens, this.#depth[first + 1] as number, bytes)) {
      return this.#refuse(lane, messages, bytes, retry, BYTES);
    }
    tokens[first] = messageTokens - messages;
    tokens[first + 1] = byteTokens - bytes;
    this.#admit(lane, messages, bytes);
    return GRANTED;
  }

  /**
   * Grants in a lane that has no quota, and counts it; false where it is not served, or limited after all (isolation).
   * There is no share that could be out of date and nothing to refill, so no clock need be read.
   */
  passUnlimited(lane: number, messages: number, bytes: number, retry: boolean): boolean {
    const first = lane * DIMENSION_COUNT;
    if (this.validUntilMs[lane] === Number.NEGATIVE_INFINITY) return false;
    if (this.#depth[first] !== Number.POSITIVE_INFINITY) return false;
    if (this.#depth[first + 1] !== Number.POSITIVE_INFINITY) return false;
    if (!retry) this.#count(lane, messages, bytes);
    this.#admit(lane, messages, bytes);
    return true;
  }

  /** Whether `tryAcquire` would grant this now; takes nothing and counts nothing. */
  containsTokens(lane: number, messages: number, bytes: number, nowMs: number): boolean {
    if (nowMs > (this.validUntilMs[lane] as number)) return false;
    this.buckets.refill(lane, nowMs);
    return this.buckets.refusedBy(lane, messages, bytes) === -1;
  }

  /** Charges work that cannot be refused; it may leave a debt of at most `debtMs` of the limit (buckets.ts). */
  consume(lane: number, messages: number, bytes: number, debtMs: number, nowMs: number): void {
    this.buckets.charge(lane, messages, bytes, debtMs, nowMs);
    this.#count(lane, messages, bytes);
    this.#admit(lane, messages, bytes);
  }

  /**
   * Takes for work whose cost is known only afterwards. What is granted counts as admitted when it is settled, because
   * counters that went down would pass for restarts; what is refused counts as attempted now.
   */
  reserve(lane: number, messages: number, bytes: number, nowMs: number): number {
    if (nowMs > (this.validUntilMs[lane] as number)) return UNCONFIRMED;
    const { buckets } = this;
    buckets.refill(lane, nowMs);
    const refusedBy = buckets.refusedBy(lane, messages, bytes);
    if (refusedBy !== -1) {
      this.#count(lane, messages, bytes);
      this.#countRefusal(lane, messages, bytes, false);
      return REFUSED + refusedBy;
    }
    buckets.take(lane, messages, bytes);
    return GRANTED;
  }

  /** What reserved work has cost; counts it. The buckets are settled level by level (levels.ts). */
  countSettled(lane: number, messages: number, bytes: number): void {
    this.#count(lane, messages, bytes);
    this.#admit(lane, messages, bytes);
  }

  /** Work that waits from now on: it is demand, whether it is ever admitted or not. */
  countArrival(lane: number, messages: number, bytes: number): void {
    this.#count(lane, messages, bytes);
  }

  /** Attempted for the first time and refused by another level on behalf of the lane (levels.ts). */
  countRefused(lane: number, messages: number, bytes: number, retry: boolean): void {
    if (!retry) this.#count(lane, messages, bytes);
    this.#countRefusal(lane, messages, bytes, retry);
  }

  waitMs(lane: number, messages: number, bytes: number, nowMs: number): number {
    return this.buckets.waitMs(lane, messages, bytes, nowMs);
  }

  available(lane: number, dimension: number, nowMs: number): number {
    return this.buckets.available(lane, dimension, nowMs);
  }

  setLimit(lane: number, dimension: number, perSecond: number, depth: number, nowMs: number): void {
    this.buckets.setLimit(lane, dimension, perSecond, depth, nowMs);
  }

  empty(lane: number, nowMs: number): void {
    this.buckets.empty(lane, nowMs);
  }

  /**
   * Fills the buckets of a lane that is served for the first time, as if it had existed, idle, since that time. Later
   * calls change nothing: a lane that is served again has what it had, and to credit its idle time twice would wipe out
   * a debt.
   */
  accrueSince(lane: number, sinceMs: number): void {
    if (this.#hasAccrued[lane] === 1) return;
    this.#hasAccrued[lane] = 1;
    this.buckets.refilledMs[lane] = sinceMs;
  }

  #refuse(lane: number, messages: number, bytes: number, retry: boolean, dimension: number): number {
    this.#countRefusal(lane, messages, bytes, retry);
    return REFUSED + dimension;
  }

  #countRefusal(lane: number, messages: number, bytes: number, retry: boolean): void {
    const first = lane * DIMENSION_COUNT;
    this.refused[first] = (this.refused[first] as number) + messages;
    this.refused[first + 1] = (this.refused[first + 1] as number) + bytes;
    this.refusals[lane] = (this.refusals[lane] as number) + 1;
    if (retry) this.retryRefusals[lane] = (this.retryRefusals[lane] as number) + 1;
  }

  #admit(lane: number, messages: number, bytes: number): void {
    const { admitted } = this;
    const first = lane * DIMENSION_COUNT;
    admitted[first] = (admitted[first] as number) + messages;
    admitted[first + 1] = (admitted[first + 1] as number) + bytes;
  }

  #count(lane: number, messages: number, bytes: number): void {
    const first = lane * DIMENSION_COUNT;
    const second = first + 1;
    const { attempted, attemptedSquares } = this;
    attempted[first] = (attempted[first] as number) + messages;
    attempted[second] = (attempted[second] as number) + bytes;
    attemptedSquares[first] = (attemptedSquares[first] as number) + messages * messages;
    attemptedSquares[second] = (attemptedSquares[second] as number) + bytes * bytes;
  }
}
