import { grown } from '../base/grown.js';
import { BYTES, DIMENSION_COUNT, MESSAGES, slotOf } from '../base/vocabulary.js';
import { Buckets, type Inflow } from './buckets.js';
import { Column, LINE_LENGTH, REFILLED_AT, VALID_UNTIL_AT } from './column.js';
import { SQUARES_MAX } from './constants.js';
import { type Figure, RefusedWork } from './refused-work.js';
import { TopicsInUse } from './topics-in-use.js';
import { isAboveWindow } from './window.js';

/** Answers of `tryAcquire`. A refusal by a dimension is REFUSED + that dimension. */
export const GRANTED = 0;
/** Answers where the lane's share is unconfirmed: not served, not ready, or after a stall of the event loop. */
export const UNCONFIRMED = 1;
export const REFUSED = 2;
/** Refuses for good: the amount exceeds what a window of the lane holds (window.ts). */
export const ABOVE_WINDOW = -3;

/**
 * Limits the work of one node: a row of buckets per lane (buckets.ts), confirmed until a time, with its counters. Other
 * levels (node, topic, client) stand beside it in levels.ts and cost nothing here.
 */
export class Limiter {
  readonly #refusedWork = new RefusedWork();
  laneCount: number;
  readonly buckets: Buckets;
  /** Per slot: tokens (negative = debt); the buckets' own column. */
  tokens: Column;
  /** Per lane: the time until which its limits are confirmed. */
  validUntilMs: Column;
  /** Units per slot: admitted; attempted for the first time; refused. */
  admitted: Column;
  readonly attempted: Figure = { at: (slot) => this.admitted.at(slot) + this.#refusedWork.notAdmitted(slot) };
  readonly refused = this.#refusedWork.refused;
  /** Refusals per lane; below, those of work that had been refused before. */
  readonly refusals = this.#refusedWork.refusals;
  readonly retryRefusals = this.#refusedWork.retryRefusals;
  readonly refusedOnce = this.#refusedWork.refusedOnce;
  /** Connections and requests per lane that wait now, instead of being refused. */
  heldBack: Uint32Array;
  /** Lanes with enforcers (src/node/enforcers) → when they last held work back. */
  readonly enforced = new Map<number, number>();
  /** Lanes in which enforcers hold work back. */
  readonly heldBackElsewhere = new Set<number>();
  /** Lanes with enforcers → all spenders' demand, units per second and dimension. */
  readonly wantedElsewhere = new Map<number, Float64Array>();
  #hasAccrued: Uint8Array;
  /** Per slot: units that are reserved now; null until some are. */
  #reserved: Float64Array | null = null;
  /** Reserved units that may come back to the cluster's bucket; below, units that never came back. */
  #returnable: Float64Array | null = null;
  #lapsed: Float64Array | null = null;
  /** Units per slot that could not be refused, until `takeUnrefused`; null until some are. */
  #unrefused: Float64Array | null = null;
  readonly topics = new TopicsInUse();
  /** The buckets' own lines, and the counters of every admission (COUNTS). */
  #lines: Float64Array;
  #counts: Float64Array;

  constructor(laneCount: number) {
    this.laneCount = laneCount;
    this.buckets = new Buckets(laneCount);
    this.#lines = this.buckets.lines;
    this.#counts = new Float64Array(laneCount * COUNTS);
    this.tokens = this.buckets.tokens;
    this.validUntilMs = this.buckets.validUntilMs;
    this.validUntilMs.fill(-Infinity);
    this.admitted = new Column(this.#counts, 0, DIMENSION_COUNT, COUNTS);
    this.heldBack = new Uint32Array(laneCount);
    this.#hasAccrued = new Uint8Array((laneCount + 7) >> 3);
  }

  /** Makes room for the lanes of more groups. The columns are replaced, so callers must fetch them again. */
  grow(laneCount: number): void {
    const larger = new Limiter(laneCount);
    this.buckets.grow(laneCount);
    const { tokens, validUntilMs, lines } = this.buckets;
    for (let lane = this.laneCount; lane < laneCount; lane++) validUntilMs.set(lane, -Infinity);
    larger.#counts.set(this.#counts);
    larger.heldBack.set(this.heldBack);
    larger.#hasAccrued.set(this.#hasAccrued);
    const { admitted, heldBack } = larger;
    Object.assign(this, { laneCount, tokens, validUntilMs, admitted, heldBack });
    this.#lines = lines;
    const slots = laneCount * DIMENSION_COUNT;
    this.#reserved = this.#reserved && grown(this.#reserved, slots);
    this.#returnable = this.#returnable && grown(this.#returnable, slots);
    this.#lapsed = this.#lapsed && grown(this.#lapsed, slots);
    this.#unrefused = this.#unrefused && grown(this.#unrefused, slots);
    this.#counts = larger.#counts;
    this.#hasAccrued = larger.#hasAccrued;
  }

  /**
   * Takes both amounts or none: if one dimension refuses, nothing is charged.
   * `retry` = this work was refused before: its admission counts, but no second demand.
   */
  tryAcquire(lane: number, messages: number, bytes: number, retry: boolean, nowMs: number): number {
    const lines = this.#lines;
    const first = lane * LINE;
    if (nowMs > lines[first + VALID_UNTIL_MS]) return UNCONFIRMED;
    if (nowMs !== lines[first + REFILLED_MS]) this.buckets.refill(lane, nowMs);
    const messageTokens = lines[first];
    const byteTokens = lines[first + 1];
    // The same as buckets.tryTake, written out, because one more call costs a third of the decision.
    if (messageTokens < messages || byteTokens < bytes) {
      const refusedBy = this.buckets.refusedBy(lane, messages, bytes);
      if (refusedBy !== -1) return this.#refuse(lane, messages, bytes, retry, refusedBy);
    }
    lines[first] = messageTokens - messages;
    lines[first + 1] = byteTokens - bytes;
    if (retry) this.#countRetried(lane, messages, bytes);
    else this.#count(lane, messages, bytes);
    return GRANTED;
  }

  /**
   * Grants and counts in a lane without a quota. False where it is not served, or limited after all (isolation). No
   * share can be out of date and nothing refills, so no clock is read.
   */
  passUnlimited(lane: number, messages: number, bytes: number, retry: boolean): boolean {
    const lines = this.#lines;
    const first = lane * LINE;
    // Tokens are Infinity where there is no limit, and nowhere else (buckets.ts).
    if (lines[first] !== Infinity || lines[first + 1] !== Infinity) return false;
    if (lines[first + VALID_UNTIL_MS] === -Infinity) return false;
    if (retry) this.#countRetried(lane, messages, bytes);
    else this.#count(lane, messages, bytes);
    return true;
  }

  /** Tests if `tryAcquire` would grant this now. Takes and counts nothing. */
  containsTokens(lane: number, messages: number, bytes: number, nowMs: number): boolean {
    if (nowMs > this.validUntilMs.at(lane)) return false;
    this.buckets.refill(lane, nowMs);
    return this.buckets.refusedBy(lane, messages, bytes) === -1;
  }

  /** Charges work that cannot be refused. It may leave a debt of `debtMs` of the limit (buckets.ts). */
  consume(lane: number, messages: number, bytes: number, debtMs: number, nowMs: number): void {
    this.chargeUnrefused(lane, messages, bytes, debtMs, nowMs);
    this.#count(lane, messages, bytes);
  }

  /** Charges work that was admitted before the lane was served. @param held the reserved part of it */
  chargeUnpublished(lane: number, units: Units, held: Units, debtMs: number, nowMs: number): void {
    this.buckets.charge(lane, ...units, debtMs, nowMs);
    this.#count(lane, units[MESSAGES] - held[MESSAGES], units[BYTES] - held[BYTES]);
    if (held[MESSAGES] + held[BYTES] > 0) this.#countReserved(lane, ...held);
  }

  /** Charges units that could not be refused, and counts none as admitted. */
  chargeUnrefused(lane: number, messages: number, bytes: number, debtMs: number, nowMs: number): void {
    this.buckets.charge(lane, messages, bytes, debtMs, nowMs);
    this.#unrefused ??= new Float64Array(this.laneCount * DIMENSION_COUNT);
    const slot = lane * DIMENSION_COUNT;
    this.#unrefused[slot] = this.#unrefused[slot] + messages;
    this.#unrefused[slot + 1] = this.#unrefused[slot + 1] + bytes;
  }

  /** Returns the slot's units that could not be refused, and resets them. */
  takeUnrefused(slot: number): number {
    const units = this.#unrefused?.[slot] ?? 0;
    if (units !== 0) (this.#unrefused as Float64Array)[slot] = 0;
    return units;
  }

  /**
   * Charges as `consume` does for pieces of one message each, admitted elsewhere. Counted as one piece they would pass
   * for noise, and changes of their rate would be found late.
   */
  consumePieces(lane: number, messages: number, bytes: number, debtMs: number, nowMs: number): void {
    this.chargeUnrefused(lane, messages, bytes, debtMs, nowMs);
    const counts = this.#counts;
    const first = lane * COUNTS;
    counts[first] = counts[first] + messages;
    counts[first + 1] = counts[first + 1] + bytes;
    this.#countByteSquares(lane, messages, bytes);
  }

  /**
   * Takes for work whose cost is known only afterwards. Granted work counts as admitted when it is settled, because
   * counters that went down would pass for restarts; refused work counts as attempted now.
   */
  reserve(lane: number, messages: number, bytes: number, nowMs: number, retry = false): number {
    if (nowMs > this.validUntilMs.at(lane)) return UNCONFIRMED;
    const { buckets } = this;
    buckets.refill(lane, nowMs);
    const refusedBy = buckets.refusedBy(lane, messages, bytes);
    if (refusedBy !== -1) {
      return this.#refuse(lane, messages, bytes, retry, refusedBy);
    }
    buckets.take(lane, messages, bytes);
    this.#countReserved(lane, messages, bytes);
    return GRANTED;
  }

  /**
   * Ends a reservation. Unused units come back to the cluster's bucket by `follow`, as far as it had not been full
   * again meanwhile; the others count as taken.
   */
  endReserved(lane: number, messages: number, bytes: number, usedMessages = 0, usedBytes = 0): void {
    this.#countReserved(lane, -messages, -bytes);
    this.#lapse(lane * DIMENSION_COUNT, messages - usedMessages);
    this.#lapse(lane * DIMENSION_COUNT + 1, bytes - usedBytes);
  }

  /** Tests if reserved units may come back to the cluster's bucket. */
  mayComeBack(lane: number): boolean {
    const slot = slotOf(lane, MESSAGES);
    return this.#returnable !== null && this.#returnable[slot] + this.#returnable[slot + 1] > 0;
  }

  #lapse(slot: number, unused: number): void {
    const reserved = this.#reserved!;
    const returnable = this.#returnable!;
    const back = Math.min(Math.max(0, unused), returnable[slot]);
    returnable[slot] = Math.min(reserved[slot], returnable[slot] - back);
    if (unused > back) this.#lapsed![slot] = this.#lapsed![slot] + unused - back;
  }

  /** Tests if a lane has no reservation, work held back or debt. */
  isAtRest(lane: number): boolean {
    if (this.heldBack[lane] !== 0) return false;
    for (let slot = lane * DIMENSION_COUNT; slot < (lane + 1) * DIMENSION_COUNT; slot++) {
      if ((this.#reserved?.[slot] ?? 0) !== 0 || this.tokens.at(slot) < 0) return false;
    }
    return true;
  }

  /** Units per slot that were admitted, are reserved, or never came back. */
  taken(slot: number): number {
    return this.admitted.at(slot) + (this.#reserved?.[slot] ?? 0) + (this.#lapsed?.[slot] ?? 0);
  }

  /** Counts the cost of reserved work. The buckets are settled level by level (levels.ts). */
  countSettled(lane: number, messages: number, bytes: number, retry = false): void {
    if (retry) this.#countRetried(lane, messages, bytes);
    else this.#count(lane, messages, bytes);
  }

  /** Counts work that begins to wait: it is demand, even if it is never admitted. */
  countArrival(lane: number, messages: number, bytes: number): void {
    this.#refusedWork.countAttempt(lane, messages, bytes);
    this.#countSquares(lane, messages, bytes);
  }

  /** Counts refused work, also of other levels for the lane (levels.ts). */
  countRefused(lane: number, messages: number, bytes: number, retry: boolean): void {
    this.#refusedWork.count(lane, messages, bytes, retry);
    if (!retry) this.#countSquares(lane, messages, bytes);
  }

  /** Counts refused work that is many pieces of one message each. */
  countRefusedPieces(lane: number, messages: number, bytes: number): void {
    this.#refusedWork.count(lane, messages, bytes, false);
    this.#countByteSquares(lane, messages, bytes);
  }

  available(lane: number, dimension: number, nowMs: number): number {
    return this.buckets.available(lane, dimension, nowMs);
  }

  setLimit(lane: number, dimension: number, perSecond: number, depth: number, nowMs: number): void {
    this.buckets.setLimit(lane, dimension, perSecond, depth, nowMs);
  }

  /** Sets the tokens and inflow of a slot. They follow the cluster's bucket, so no idle time is credited. */
  follow(lane: number, dimension: number, inflow: Inflow, nowMs: number): void {
    this.buckets.setInflow(lane, dimension, inflow, nowMs);
    const slot = slotOf(lane, dimension);
    const returnable = this.#returnable;
    if (returnable !== null) returnable[slot] = Math.min(returnable[slot], inflow.room);
    this.#hasAccrued[lane >> 3] = this.#hasAccrued[lane >> 3] | (1 << (lane & 7));
  }

  /** Opens a lane that no share will ever limit. It is confirmed for good and not reported. */
  open(lane: number, nowMs: number): void {
    for (const dimension of [MESSAGES, BYTES]) {
      this.setLimit(lane, dimension, Infinity, Infinity, nowMs);
    }
    this.validUntilMs.set(lane, Infinity);
  }

  /** Ends `open`: the lane has to be served from now on. */
  close(lane: number): void {
    if (this.validUntilMs.at(lane) === Infinity) this.validUntilMs.set(lane, -Infinity);
  }

  /**
   * Fills a lane's buckets at its first service, as after idle time. Later calls change nothing: a lane that is served
   * again kept its tokens, and idle time credited twice would wipe out a debt.
   */
  accrueSince(lane: number, sinceMs: number): void {
    const bit = 1 << (lane & 7);
    const byte = this.#hasAccrued[lane >> 3];
    if ((byte & bit) !== 0) return;
    this.#hasAccrued[lane >> 3] = byte | bit;
    this.buckets.refilledMs.set(lane, sinceMs);
  }

  /**
   * Resets the counters of a lane before they would lose a unit. Readers of differences notice the fall, as after a
   * restart (lane-sample.ts and Prometheus do). It is called for every lane again and again, so sums are exact for any
   * uptime, if a lane passes less than 2^52 units between two calls.
   */
  keepExact(lane: number): void {
    const counts = this.#counts;
    const first = lane * COUNTS;
    const sum = Math.max(counts[first], counts[first + 1], this.#refusedWork.largest(lane));
    const squares = Math.max(counts[first + BYTE_SQUARES], counts[first + EXCESS]);
    if (sum < SUM_MAX && squares < SQUARES_MAX) return;
    counts.fill(0, first, first + COUNTS);
    this.#refusedWork.forget(lane);
  }

  /** Copies attempts, their squares and admissions, each in every dimension: half a line is read. */
  countsInto(lane: number, column: number[], first: number): void {
    const counts = this.#counts;
    const count = lane * COUNTS;
    const slot = lane * DIMENSION_COUNT;
    const messages = counts[count];
    const bytes = counts[count + 1];
    const attempted = messages + this.#refusedWork.notAdmitted(slot);
    column[first] = attempted;
    column[first + 1] = bytes + this.#refusedWork.notAdmitted(slot + 1);
    column[first + 2] = attempted + counts[count + EXCESS];
    column[first + 3] = counts[count + BYTE_SQUARES];
    column[first + 4] = messages;
    column[first + 5] = bytes;
  }

  #countReserved(lane: number, messages: number, bytes: number): void {
    this.#reserved ??= new Float64Array(this.laneCount * DIMENSION_COUNT);
    this.#returnable ??= new Float64Array(this.laneCount * DIMENSION_COUNT);
    this.#lapsed ??= new Float64Array(this.laneCount * DIMENSION_COUNT);
    const slot = lane * DIMENSION_COUNT;
    this.#reserved[slot] = this.#reserved[slot] + messages;
    this.#reserved[slot + 1] = this.#reserved[slot + 1] + bytes;
    this.#returnable[slot] = this.#returnable[slot] + Math.max(0, messages);
    this.#returnable[slot + 1] = this.#returnable[slot + 1] + Math.max(0, bytes);
  }

  /** Counts a refusal. An amount above the window is demand as well: with a larger share it may fit. */
  #refuse(lane: number, messages: number, bytes: number, retry: boolean, refusedBy: number): number {
    this.countRefused(lane, messages, bytes, retry);
    return isAboveWindow(this.buckets, lane, messages, bytes) ? ABOVE_WINDOW : REFUSED + refusedBy;
  }

  /** Counts an admission at the first attempt. `attempted` is derived, so nothing else is written. */
  #count(lane: number, messages: number, bytes: number): void {
    const counts = this.#counts;
    const first = lane * COUNTS;
    counts[first] = counts[first] + messages;
    counts[first + 1] = counts[first + 1] + bytes;
    counts[first + BYTE_SQUARES] = counts[first + BYTE_SQUARES] + bytes * bytes;
    if (messages !== 1) this.#countExcess(first, messages);
  }

  /** Counts an admission at a later attempt. */
  #countRetried(lane: number, messages: number, bytes: number): void {
    const counts = this.#counts;
    const first = lane * COUNTS;
    counts[first] = counts[first] + messages;
    counts[first + 1] = counts[first + 1] + bytes;
    this.#refusedWork.countAttempt(lane, -messages, -bytes);
  }

  #countSquares(lane: number, messages: number, bytes: number): void {
    const counts = this.#counts;
    const first = lane * COUNTS;
    counts[first + BYTE_SQUARES] = counts[first + BYTE_SQUARES] + bytes * bytes;
    this.#countExcess(first, messages);
  }

  /** Adds the squares of bytes of many pieces with one message each. */
  #countByteSquares(lane: number, messages: number, bytes: number): void {
    const at = lane * COUNTS + BYTE_SQUARES;
    this.#counts[at] = this.#counts[at] + (bytes * bytes) / Math.max(1, messages);
  }

  #countExcess(first: number, messages: number): void {
    const counts = this.#counts;
    counts[first + EXCESS] = counts[first + EXCESS] + messages * (messages - 1);
  }
}

type Units = readonly [messages: number, bytes: number];

/** Copies, see buckets.ts. */
const LINE = LINE_LENGTH;
const REFILLED_MS = REFILLED_AT;
const VALID_UNTIL_MS = VALID_UNTIL_AT;
/**
 * Counters of an admission, half a line of 64 bytes: messages, bytes, squares of bytes, and squares of messages less
 * the messages, which is 0 for one message at a time.
 */
const COUNTS = 4;
const BYTE_SQUARES = 2;
const EXCESS = 3;
/** Half of what a double counts exactly. */
const SUM_MAX = 2 ** 52;
