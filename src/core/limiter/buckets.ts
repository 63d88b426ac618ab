import { grown } from '../base/grown.js';
import { InvariantError } from '../base/invariant.js';
import { BYTES, DIMENSION_COUNT, MESSAGES } from '../base/vocabulary.js';
import { usefulWaitOf, waitOf } from './bucket-wait.js';
import { Column, DEPTH_AT, LINE_LENGTH, RATE_AT, REFILLED_AT, VALID_UNTIL_AT } from './column.js';
import { CLOCK_SET_BACK_MS, LEAST_INFLOW, TOKEN_SLACK } from './constants.js';
import { HeldTokens, type Hold } from './held-tokens.js';
import { changedTokens, passWindows, restOfWindow, windowRefusedBy } from './window.js';

/**
 * Holds lazy token buckets in columns, one per dimension in every row. They are those of PIP-322 ("Using an
 * asynchronous token bucket") without its eventual consistency: one thread, so consumption is exact.
 *
 * Refill is computed from elapsed time when a row is asked, so there is no timer. Tokens are doubles: fractions are
 * kept, and 1 token per 10 s works. Consumption may leave a debt: an amount above the depth is admitted when the bucket
 * is full.
 *
 * Limits: Infinity = unlimited (tokens and depth are Infinity, rate 0, so that no arithmetic yields NaN); 0 = blocked
 * (depth NaN: every comparison with NaN is false, so no amount suffices; debts are kept, other tokens are lost).
 *
 * Exactness: a refill rounds twice, to a unit in the last place of the addend and of the sum. At 1e12/s and a depth of
 * 1e11 that is 1.5e-5 of a token; 10,000 refills stay within 0.1 of the exact number. The rate is kept per second and
 * divided after multiplying: 1/1000 has no exact double, and its error would add up in one direction.
 *
 * Times are milliseconds of any monotonic clock, given by the caller.
 */
export class Buckets {
  /** Per row a line of eight: tokens, time of the last refill, valid until, depths, rates (column.ts). */
  lines: Float64Array;
  /** Per slot: tokens per second, bucket depth, tokens (negative = debt). */
  rate: Column;
  depth: Column;
  tokens: Column;
  /** Per row: time of the last refill. */
  refilledMs: Column;
  /** Per row, for its owner: the time until which its limits are confirmed. The buckets do not read it. */
  validUntilMs: Column;
  /**
   * 1 for every 64 rows of which one was asked; the reader clears it. For 200,000 rows these are 3 kB, so the few asked
   * rows are found without reading the columns (report/look-list.ts).
   */
  asked: Uint8Array;
  /** Per row: milliseconds of its windows (window.ts), 0 = a bucket. Null while all are buckets. */
  windowMs: Float64Array | null = null;
  /** Per slot that follows a bucket of the cluster: units per second that come back to it; null without any. */
  comesBack: Float64Array | null = null;
  /** Per slot that follows a bucket of the cluster: tokens that `isTakenFrom` compares with; null without any. */
  #publishedBelow: Float64Array | null = null;
  /** By slot: bounds of work above `depth`; null without any. */
  #largest: Map<number, Largest> | null = null;
  /** Per slot: units that were forgiven; null until some were. */
  #letOff: Float64Array | null = null;
  /** Slots with their first forgiven units; the reader clears it. */
  firstLetOff: number[] = [];
  /** Tokens held for work whose cost is known later. Null until some are held, which saves time. */
  held: HeldTokens | null = null;

  constructor(rows: number) {
    this.lines = new Float64Array(rows * LINE_LENGTH);
    this.rate = new Column(this.lines, RATE, DIMENSION_COUNT);
    this.depth = new Column(this.lines, DEPTH, DIMENSION_COUNT);
    this.tokens = new Column(this.lines, 0, DIMENSION_COUNT);
    this.refilledMs = new Column(this.lines, REFILLED_MS, 1);
    this.validUntilMs = new Column(this.lines, VALID_UNTIL_AT, 1);
    this.depth.fill(Number.NaN);
    this.asked = new Uint8Array(Math.ceil(rows / 64));
  }

  refill(row: number, nowMs: number): void {
    this.asked[row >> 6] = 1;
    const { lines } = this;
    const first = row * LINE;
    const elapsedMs = nowMs - lines[first + REFILLED_MS];
    // A clock that steps back costs nothing and mints nothing: the time already credited is not credited again.
    if (elapsedMs <= 0) {
      // It was set where it steps further: time counts from there, else nothing refills for hours.
      if (elapsedMs < -CLOCK_SET_BACK_MS) lines[first + REFILLED_MS] = nowMs;
      return;
    }
    if (this.windowMs !== null && this.windowMs[row] > 0) {
      passWindows(this, row, nowMs);
      return;
    }
    lines[first + REFILLED_MS] = nowMs;
    // Both dimensions without a loop: the two divisions overlap, half the time of a loop's.
    const messages = lines[first] + (elapsedMs * lines[first + RATE]) / 1000;
    const bytes = lines[first + 1] + (elapsedMs * lines[first + RATE + 1]) / 1000;
    const messageDepth = lines[first + DEPTH];
    const byteDepth = lines[first + DEPTH + 1];
    lines[first] = messages > messageDepth ? messageDepth : messages;
    lines[first + 1] = bytes > byteDepth ? byteDepth : bytes;
    if (this.held !== null) this.held.noteRoom(row);
  }

  /** Refills the row and takes both amounts; −1 = taken, else the dimension that refuses. */
  tryTake(row: number, messages: number, bytes: number, nowMs: number): number {
    const { lines } = this;
    const first = row * LINE;
    if (nowMs !== lines[first + REFILLED_MS]) this.refill(row, nowMs);
    const messageTokens = lines[first];
    const byteTokens = lines[first + 1];
    // Tokens never exceed the depth and are never positive in a blocked slot, so this comparison suffices for nearly
    // every grant. The rest (an amount of 0 in spite of a debt, an amount above the depth) takes the longer way.
    if (messageTokens < messages || byteTokens < bytes) {
      const refusedBy = this.refusedBy(row, messages, bytes);
      if (refusedBy !== -1) return refusedBy;
    }
    lines[first] = messageTokens - messages;
    lines[first + 1] = byteTokens - bytes;
    return -1;
  }

  /** Returns the dimension that refuses, or −1. Takes nothing; the row must have been refilled. */
  refusedBy(row: number, messages: number, bytes: number): number {
    const { lines } = this;
    const first = row * LINE;
    if (this.windowOf(row) > 0) return windowRefusedBy(lines, first, messages, bytes);
    if (!isEnough(lines[first], lines[first + DEPTH], messages)) return MESSAGES;
    if (!isEnough(lines[first + 1], lines[first + DEPTH + 1], bytes)) return BYTES;
    if (this.#largest === null) return -1;
    const nowMs = lines[first + REFILLED_MS];
    const slot = row * DIMENSION_COUNT;
    // Bounds of larger work do not hold for what is in the slot.
    if (messages > lines[first + DEPTH] && messages > largestAt(this.#largest.get(slot), nowMs)) return MESSAGES;
    const isDeep = bytes <= lines[first + DEPTH + 1];
    return isDeep || bytes <= largestAt(this.#largest.get(slot + 1), nowMs) ? -1 : BYTES;
  }

  /** Takes what `refusedBy` has found to be there. */
  take(row: number, messages: number, bytes: number): void {
    const { lines } = this;
    const first = row * LINE;
    lines[first] = lines[first] - messages;
    lines[first + 1] = lines[first + 1] - bytes;
  }

  /**
   * Takes for work that cannot be refused. A charge leaves at most `debtMs` of the limit as debt, or one bucket where
   * that is more. What exceeds this bound is forgiven; otherwise one flood would block a row for hours (at 1/s, 100,000
   * messages: 28 hours; with 60 s of debt, one minute). An older debt is never forgiven. A blocked slot gets no new
   * debt, because no rate could repay it.
   */
  charge(row: number, messages: number, bytes: number, debtMs: number, nowMs: number): void {
    this.refill(row, nowMs);
    this.#chargeSlot(row * DIMENSION_COUNT + MESSAGES, messages, debtMs);
    this.#chargeSlot(row * DIMENSION_COUNT + BYTES, bytes, debtMs);
  }

  /** Undoes a `take` of the same instant. Tokens held for longer come back by ending their `hold`. */
  putBack(row: number, messages: number, bytes: number): void {
    this.take(row, -messages, -bytes);
  }

  /** Holds tokens just taken, for work whose cost is known later (held-tokens.ts). */
  hold(row: number, messages: number, bytes: number): Hold {
    this.held ??= new HeldTokens(this);
    return this.held.hold(row, messages, bytes);
  }

  /** Milliseconds until this amount could be admitted if nobody else took anything; Infinity while blocked. */
  waitMs(row: number, messages: number, bytes: number, nowMs: number): number {
    this.refill(row, nowMs);
    const first = row * DIMENSION_COUNT;
    return Math.max(waitOf(this, first + MESSAGES, messages), waitOf(this, first + BYTES, bytes));
  }

  /** Returns the dimension with the longest wait. The row must have been refilled. */
  scarcest(row: number, messages: number, bytes: number): number {
    const first = row * DIMENSION_COUNT;
    return waitOf(this, first + BYTES, bytes) > waitOf(this, first + MESSAGES, messages) ? BYTES : MESSAGES;
  }

  /**
   * Milliseconds until a useful amount is back in both dimensions: one unit, or 1 % of the depth where that is more, so
   * that a woken client can proceed (PIP-322, throttling duration, as its later versions compute it).
   * Worked: 1,000/s and as deep, 2,000 in debt → 2,010 ms.
   */
  throttleMs(row: number, nowMs: number): number {
    this.refill(row, nowMs);
    const first = row * DIMENSION_COUNT;
    return Math.max(usefulWaitOf(this, first + MESSAGES), usefulWaitOf(this, first + BYTES));
  }

  /** Tokens there are now, ≥ 0; Infinity without quota. */
  available(row: number, dimension: number, nowMs: number): number {
    this.refill(row, nowMs);
    return Math.max(0, this.tokens.at(row * DIMENSION_COUNT + dimension));
  }

  /** Units owed now, ≥ 0. */
  debt(row: number, dimension: number, nowMs: number): number {
    this.refill(row, nowMs);
    return Math.max(0, -this.tokens.at(row * DIMENSION_COUNT + dimension));
  }

  /**
   * Changes a limit in place: tokens accrued at the old rate count, debt is kept, nothing is minted. A slot without a
   * finite limit before starts empty.
   *
   * @param perSecond units per second; Infinity = unlimited, 0 = blocked
   * @param depth units, > 0
   */
  setLimit(row: number, dimension: number, perSecond: number, depth: number, nowMs: number): void {
    if (!isRate(perSecond)) throw new InvariantError('a limit must be a rate below 2^53', { perSecond });
    this.refill(row, nowMs);
    const slot = row * DIMENSION_COUNT + dimension;
    const tokens = this.tokens.at(slot);
    const before = this.rate.at(slot);
    if (this.comesBack !== null) this.comesBack[slot] = 0;
    if (this.#publishedBelow !== null) this.#publishedBelow[slot] = -Infinity;
    this.#largest?.delete(slot);
    if (perSecond === Infinity) {
      this.rate.set(slot, 0);
      this.depth.set(slot, Infinity);
      this.tokens.set(slot, Infinity);
      this.held?.noteRoom(row);
      return;
    }
    this.rate.set(slot, perSecond);
    this.depth.set(slot, perSecond === 0 ? Number.NaN : depth);
    const kept = tokens === Infinity ? 0 : tokens;
    const windowMs = this.windowOf(row);
    const change = { before, after: perSecond, depth, windowMs, nowMs };
    const changed = windowMs === 0 ? Math.min(kept, depth) : changedTokens(kept, change);
    // A blocked slot keeps a debt and loses what was left, because `tryTake` looks at no depth.
    this.tokens.set(slot, perSecond === 0 ? Math.min(changed, 0) : changed);
    this.held?.noteRoom(row);
  }

  /** Sets the tokens, rate and depth of a slot (Limiter.follow). */
  setInflow(row: number, dimension: number, inflow: Inflow, nowMs: number): void {
    const { takeable, depth, perSecond, comesBackPerSecond, untilPublished, largest } = inflow;
    this.setLimit(row, dimension, Math.max(LEAST_INFLOW, perSecond), depth, nowMs);
    const slot = row * DIMENSION_COUNT + dimension;
    this.tokens.set(slot, takeable);
    const slots = (this.lines.length / LINE) * DIMENSION_COUNT;
    this.comesBack ??= new Float64Array(slots);
    this.comesBack[slot] = comesBackPerSecond;
    this.#publishedBelow ??= new Float64Array(slots).fill(-Infinity);
    this.#publishedBelow[slot] = takeable - untilPublished;
    if (largest === Infinity) return;
    this.#largest ??= new Map();
    const anyFromMs = nowMs + inflow.anyInMs;
    this.#largest.set(slot, { units: largest, perSecond: inflow.largestPerSecond, atMs: nowMs, anyFromMs });
  }

  /** Computes milliseconds until a full slot admits work above its depth. The row must have been refilled. */
  tooLargeMs(slot: number, amount: number): number {
    const largest = this.#largest?.get(slot);
    if (largest === undefined) return 0;
    const nowMs = this.refilledMs.at(Math.floor(slot / DIMENSION_COUNT));
    const lacking = amount - largestAt(largest, nowMs);
    return lacking > 0 ? Math.min((1000 * lacking) / largest.perSecond, largest.anyFromMs - nowMs) : 0;
  }

  /** Tests if a row's tokens fell by `untilPublished` since `setInflow`. */
  isTakenFrom(row: number): boolean {
    const below = this.#publishedBelow;
    if (below === null) return false;
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      if (this.tokens.at(slot) <= below[slot]) return true;
    }
    return false;
  }

  /** The rate, in units per second, by which waits are estimated. */
  comesBackAt(slot: number): number {
    return Math.max(this.rate.at(slot), this.comesBack?.[slot] ?? 0);
  }

  windowOf(row: number): number {
    return this.windowMs === null ? 0 : this.windowMs[row];
  }

  /** Gives a row windows of this length, or a bucket (0). Tokens spent ahead of their time are owed (window.ts). */
  setWindow(row: number, windowMs: number, nowMs: number): void {
    const before = this.windowOf(row);
    if (before === windowMs) return;
    this.refill(row, nowMs);
    this.windowMs ??= new Float64Array(this.lines.length / LINE);
    this.windowMs[row] = windowMs;
    this.#flow(row, -restOfWindow(before, nowMs));
    this.empty(row, nowMs);
    this.#flow(row, restOfWindow(windowMs, nowMs));
    this.empty(row, nowMs);
  }

  /** Empties a row but keeps its debts: tokens of a pause must not burst. */
  empty(row: number, nowMs: number): void {
    this.refilledMs.set(row, nowMs);
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      if (this.tokens.at(slot) > 0 && this.depth.at(slot) !== Infinity) this.tokens.set(slot, 0);
    }
    this.held?.noteDebts(row);
  }

  /** Adds the inflow of this time. A negative time takes back tokens handed out ahead of it. */
  #flow(row: number, ms: number): void {
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      this.tokens.set(slot, this.tokens.at(slot) + (ms * this.rate.at(slot)) / 1000);
    }
  }

  /** Fills the buckets of a new row. Blocked slots stay empty. */
  fill(row: number, nowMs: number): void {
    this.refilledMs.set(row, nowMs);
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      const depth = this.depth.at(slot);
      this.tokens.set(slot, Number.isNaN(depth) ? 0 : depth);
    }
    this.held?.noteRoom(row);
  }

  grow(rows: number): void {
    const larger = new Buckets(rows);
    larger.lines.set(this.lines);
    larger.asked.set(this.asked);
    const slots = rows * DIMENSION_COUNT;
    larger.windowMs = this.windowMs && grown(this.windowMs, rows);
    larger.comesBack = this.comesBack && grown(this.comesBack, slots);
    this.#publishedBelow = this.#publishedBelow && grown(this.#publishedBelow, slots, -Infinity);
    this.#letOff = this.#letOff && grown(this.#letOff, slots);
    larger.firstLetOff = this.firstLetOff;
    larger.held = this.held;
    Object.assign(this, larger);
    this.held?.grow(rows);
  }

  #chargeSlot(slot: number, amount: number, debtMs: number): void {
    const tokens = this.tokens.at(slot);
    if (amount <= 0 || tokens === Infinity) return;
    const depth = this.depth.at(slot);
    const bound = Number.isNaN(depth) ? 0 : Math.max(depth, (this.comesBackAt(slot) * debtMs) / 1000);
    const after = Math.max(tokens - amount, Math.min(tokens, -bound));
    this.tokens.set(slot, after);
    // A slot that follows the cluster's bucket counts forgiven units in its account.
    if (after > tokens - amount && (this.comesBack?.[slot] ?? 0) === 0) this.countLetOff(slot, after - tokens + amount);
  }

  countLetOff(slot: number, units: number): void {
    this.#letOff ??= new Float64Array((this.lines.length / LINE) * DIMENSION_COUNT);
    if (this.#letOff[slot] === 0) this.firstLetOff.push(slot);
    this.#letOff[slot] = this.#letOff[slot] + units;
  }

  /** Units of unrefusable work that were forgiven since the start. */
  letOffAt(slot: number): number {
    return this.#letOff?.[slot] ?? 0;
  }
}

/**
 * Copies of imported constants. V8 folds a constant of this module into the code, but reads and checks an imported or
 * exported one at every use (8.5 against 11.7 ns for one bucket).
 */
const LINE = LINE_LENGTH;
const REFILLED_MS = REFILLED_AT;
const DEPTH = DEPTH_AT;
const RATE = RATE_AT;
const SLACK = TOKEN_SLACK;

/** Tests if tokens suffice: always for 0, above the depth in a full bucket, never else in a blocked slot. */
function isEnough(tokens: number, depth: number, amount: number): boolean {
  return amount <= 0 || tokens + SLACK >= (amount < depth ? amount : depth);
}

interface Largest {
  readonly units: number;
  readonly perSecond: number;
  readonly atMs: number;
  /** Time from which any work is admitted; Infinity = it depends on its size alone. */
  readonly anyFromMs: number;
}

function largestAt(largest: Largest | undefined, nowMs: number): number {
  if (largest === undefined || nowMs >= largest.anyFromMs) return Infinity;
  return largest.units + (largest.perSecond * (nowMs - largest.atMs)) / 1000;
}

/** Flow into a slot that follows a bucket of the cluster. */
export interface Inflow {
  /** Negative: a debt. */
  readonly takeable: number;
  readonly depth: number;
  readonly perSecond: number;
  /** Units per second that come back to requests that wait, ≥ `perSecond`. */
  readonly comesBackPerSecond: number;
  /** Units beyond the inflow that stay unpublished at most; Infinity = all may. */
  readonly untilPublished: number;
  /** Bounds work above `depth`: units that a full slot admits now (Infinity = any), and how they grow per second. */
  readonly largest: number;
  readonly largestPerSecond: number;
  /** Milliseconds until any work is admitted. */
  readonly anyInMs: number;
  /** Units that the cluster's bucket has room for, ≥ 0. */
  readonly room: number;
}

function isRate(perSecond: number): boolean {
  return perSecond >= 0 && (perSecond <= Number.MAX_SAFE_INTEGER || perSecond === Infinity);
}
