import { BYTES, DIMENSION_COUNT, MESSAGES } from '../vocabulary.js';
import { Buckets } from './buckets.js';
import { Column, DEPTH_AT, LINE_LENGTH, VALID_UNTIL_AT } from './column.js';
import { isAboveWindow } from './window.js';

/** Answers of `tryAcquire`; a refusal by a dimension is REFUSED + that dimension. */
export const GRANTED = 0;
/** The coordinator has not confirmed the lane's share: not served yet, not ready, or the event loop slept. */
export const UNCONFIRMED = 1;
export const REFUSED = 2;
/** More than a window of the lane holds: it will not be granted whole, however long somebody waits (window.ts). */
export const ABOVE_WINDOW = -3;

/**
 * The limiter of one node: a row of buckets per lane (buckets.ts), confirmed until a time, and what went through them.
 * Other levels (node, topic, client) stand beside it in levels.ts and cost nothing here.
 */
export class Limiter {
  laneCount: number;
  readonly buckets: Buckets;
  /** Per slot: tokens (negative = debt); the buckets' own column. */
  tokens: Column;
  /** Per lane: the time until which its limits are confirmed. */
  validUntilMs: Column;
  /** Per slot, since creation: admitted; attempted for the first time, with squares for the noise rule; refused. */
  admitted: Column;
  attempted: Column;
  attemptedSquares: Column;
  refused: Column;
  /** Per lane, since creation: refusals, and refusals of work that had been refused before. */
  refusals: Float64Array;
  retryRefusals: Float64Array;
  /** Per lane: connections and asks that are held back now, instead of refused. */
  heldBack: Uint32Array;
  #hasAccrued: Uint8Array;
  /** The buckets' own lines and per lane a line of eight counters. */
  #lines: Float64Array;
  #counts: Float64Array;

  constructor(laneCount: number) {
    this.laneCount = laneCount;
    this.buckets = new Buckets(laneCount);
    this.#lines = this.buckets.lines;
    this.#counts = new Float64Array(laneCount * LINE_LENGTH);
    this.tokens = this.buckets.tokens;
    this.validUntilMs = this.buckets.validUntilMs;
    this.validUntilMs.fill(Number.NEGATIVE_INFINITY);
    this.admitted = new Column(this.#counts, 0, DIMENSION_COUNT);
    this.attempted = new Column(this.#counts, ATTEMPTED, DIMENSION_COUNT);
    this.attemptedSquares = new Column(this.#counts, SQUARES, DIMENSION_COUNT);
    this.refused = new Column(this.#counts, REFUSED_COUNT, DIMENSION_COUNT);
    this.refusals = new Float64Array(laneCount);
    this.retryRefusals = new Float64Array(laneCount);
    this.heldBack = new Uint32Array(laneCount);
    this.#hasAccrued = new Uint8Array(laneCount);
  }

  /** Makes room for the lanes of more groups; what is there stays. Whoever keeps a column must fetch it again. */
  grow(laneCount: number): void {
    const larger = new Limiter(laneCount);
    this.buckets.grow(laneCount);
    const { tokens, validUntilMs, lines } = this.buckets;
    for (let lane = this.laneCount; lane < laneCount; lane++) validUntilMs.set(lane, Number.NEGATIVE_INFINITY);
    larger.#counts.set(this.#counts);
    larger.refusals.set(this.refusals);
    larger.retryRefusals.set(this.retryRefusals);
    larger.heldBack.set(this.heldBack);
    larger.#hasAccrued.set(this.#hasAccrued);
    const { admitted, attempted, attemptedSquares, refused, refusals, retryRefusals, heldBack } = larger;
    Object.assign(this, { laneCount, tokens, validUntilMs, refusals, retryRefusals, heldBack });
    Object.assign(this, { admitted, attempted, attemptedSquares, refused });
    this.#lines = lines;
    this.#counts = larger.#counts;
    this.#hasAccrued = larger.#hasAccrued;
  }

  /**
   * Takes both amounts or none: the stricter dimension wins, nothing is charged when one refuses.
   * `retry` = this work was refused before: it counts as admitted when it is, but is not demand a second time.
   */
  tryAcquire(lane: number, messages: number, bytes: number, retry: boolean, nowMs: number): number {
    if (nowMs > (this.#lines[lane * LINE + VALID_UNTIL_MS] as number)) return UNCONFIRMED;
    const refusedBy = this.buckets.tryTake(lane, messages, bytes, nowMs);
    if (!retry) this.#count(lane, messages, bytes);
    if (refusedBy !== -1) {
      return this.#refuse(lane, messages, bytes, retry, refusedBy);
    }
    this.#admit(lane, messages, bytes);
    return GRANTED;
  }

  /**
   * Grants in a lane that has no quota, and counts it; false where it is not served, or limited after all (isolation).
   * There is no share that could be out of date and nothing to refill, so no clock need be read.
   */
  passUnlimited(lane: number, messages: number, bytes: number, retry: boolean): boolean {
    const lines = this.#lines;
    const first = lane * LINE;
    if (lines[first + VALID_UNTIL_MS] === Number.NEGATIVE_INFINITY) return false;
    if (lines[first + DEPTH] !== Number.POSITIVE_INFINITY) return false;
    if (lines[first + DEPTH + 1] !== Number.POSITIVE_INFINITY) return false;
    if (!retry) this.#count(lane, messages, bytes);
    this.#admit(lane, messages, bytes);
    return true;
  }

  /** Whether `tryAcquire` would grant this now; takes nothing and counts nothing. */
  containsTokens(lane: number, messages: number, bytes: number, nowMs: number): boolean {
    if (nowMs > this.validUntilMs.at(lane)) return false;
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
  reserve(lane: number, messages: number, bytes: number, nowMs: number, retry = false): number {
    if (nowMs > this.validUntilMs.at(lane)) return UNCONFIRMED;
    const { buckets } = this;
    buckets.refill(lane, nowMs);
    const refusedBy = buckets.refusedBy(lane, messages, bytes);
    if (refusedBy !== -1) {
      if (!retry) this.#count(lane, messages, bytes);
      return this.#refuse(lane, messages, bytes, retry, refusedBy);
    }
    buckets.take(lane, messages, bytes);
    return GRANTED;
  }

  /** What reserved work has cost; counts it. The buckets are settled level by level (levels.ts). */
  countSettled(lane: number, messages: number, bytes: number, retry = false): void {
    if (!retry) this.#count(lane, messages, bytes);
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

  /** A lane that no share will ever limit: it is confirmed for good, and nobody need know of it. */
  open(lane: number, nowMs: number): void {
    for (const dimension of [MESSAGES, BYTES]) {
      this.setLimit(lane, dimension, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, nowMs);
    }
    this.validUntilMs.set(lane, Number.POSITIVE_INFINITY);
  }

  /** It is no such lane any more, and has to be served. */
  close(lane: number): void {
    if (this.validUntilMs.at(lane) === Number.POSITIVE_INFINITY) this.validUntilMs.set(lane, Number.NEGATIVE_INFINITY);
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
    this.buckets.refilledMs.set(lane, sinceMs);
  }

  /** Copies what was attempted, its squares and what was admitted, each in every dimension: one line is read. */
  countsInto(lane: number, column: Float64Array, first: number): void {
    const counts = this.#counts;
    const line = lane * LINE;
    for (let place = 0; place < REFUSED_COUNT - ATTEMPTED; place++) {
      column[first + place] = counts[line + ATTEMPTED + place] as number;
    }
    for (let place = 0; place < ATTEMPTED; place++) {
      column[first + REFUSED_COUNT - ATTEMPTED + place] = counts[line + place] as number;
    }
  }

  /** What is above a window is demand too: with a larger share it may fit. */
  #refuse(lane: number, messages: number, bytes: number, retry: boolean, refusedBy: number): number {
    this.#countRefusal(lane, messages, bytes, retry);
    return isAboveWindow(this.buckets, lane, messages, bytes) ? ABOVE_WINDOW : REFUSED + refusedBy;
  }

  #countRefusal(lane: number, messages: number, bytes: number, retry: boolean): void {
    const counts = this.#counts;
    const first = lane * LINE + REFUSED_COUNT;
    counts[first] = (counts[first] as number) + messages;
    counts[first + 1] = (counts[first + 1] as number) + bytes;
    this.refusals[lane] = (this.refusals[lane] as number) + 1;
    if (retry) this.retryRefusals[lane] = (this.retryRefusals[lane] as number) + 1;
  }

  #admit(lane: number, messages: number, bytes: number): void {
    const counts = this.#counts;
    const first = lane * LINE;
    counts[first] = (counts[first] as number) + messages;
    counts[first + 1] = (counts[first + 1] as number) + bytes;
  }

  #count(lane: number, messages: number, bytes: number): void {
    const counts = this.#counts;
    const first = lane * LINE;
    counts[first + ATTEMPTED] = (counts[first + ATTEMPTED] as number) + messages;
    counts[first + ATTEMPTED + 1] = (counts[first + ATTEMPTED + 1] as number) + bytes;
    counts[first + SQUARES] = (counts[first + SQUARES] as number) + messages * messages;
    counts[first + SQUARES + 1] = (counts[first + SQUARES + 1] as number) + bytes * bytes;
  }
}

/** Copies, see buckets.ts. */
const LINE = LINE_LENGTH;
const VALID_UNTIL_MS = VALID_UNTIL_AT;
const DEPTH = DEPTH_AT;
/** Places in a line of counters; the two admitted ones come first, what refusals alone count comes last. */
const ATTEMPTED = 2;
const SQUARES = 4;
const REFUSED_COUNT = 6;
