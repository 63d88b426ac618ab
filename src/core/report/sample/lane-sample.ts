import { DIMENSION_COUNT, noUnits } from '../../base/vocabulary.js';
import type { Limiter } from '../../limiter/limiter.js';

/**
 * Cumulative counters of one lane at one time. The difference of two marks is the work between them. The noise rule
 * needs squares of sizes; `heldBackMs` is time in which work that had been refused before was refused again, or in
 * which connections and requests waited for the limiter.
 *
 * All marks of a lane lie in one column, because 15 of them with arrays of their own would take nine times the memory.
 * An object of this class is a view that lasts for one look.
 */
export class Mark {
  readonly #column: number[];
  readonly #first: number;

  constructor(column: number[], index: number) {
    this.#column = column;
    this.#first = index * MARK_LENGTH;
  }

  get atMs(): number {
    return this.#column[this.#first];
  }

  get heldBackMs(): number {
    return this.#column[this.#first + 1];
  }

  attempted(dimension: number): number {
    return this.#column[this.#first + 2 + dimension];
  }

  squares(dimension: number): number {
    return this.#column[this.#first + 2 + DIMENSION_COUNT + dimension];
  }

  admitted(dimension: number): number {
    return this.#column[this.#first + 2 + 2 * DIMENSION_COUNT + dimension];
  }

  take(limiter: Limiter, lane: number, nowMs: number, heldBackMs: number): void {
    const column = this.#column;
    column[this.#first] = nowMs;
    column[this.#first + 1] = heldBackMs;
    limiter.countsInto(lane, column, this.#first + 2);
  }

  /** Tests if both marks have the same counters. */
  isAsAt(other: Mark): boolean {
    const [column, first] = [this.#column, this.#first];
    for (let index = 1; index < MARK_LENGTH; index++) {
      if (column[first + index] !== other.#column[other.#first + index]) return false;
    }
    return true;
  }

  /** Tests if the limiter has set a counter to 0 since. */
  isAbove(later: Mark): boolean {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const fell = Math.min(
        later.admitted(dimension) - this.admitted(dimension),
        later.squares(dimension) - this.squares(dimension),
        later.attempted(dimension) - this.attempted(dimension),
      );
      if (fell < -FELL) return true;
    }
    return false;
  }

  /** Copies this mark over another one in the same column. */
  copyTo(index: number): void {
    const column = this.#column;
    const first = index * MARK_LENGTH;
    for (let word = 0; word < MARK_LENGTH; word++) column[first + word] = column[this.#first + word];
  }
}

/** Units of a fall that is a reset: corrections (refused-work.ts) and rounded squares fall by less. */
const FELL = 2 ** 51;
/** Numbers of a mark: time, time held back, and three counters in every dimension. */
const MARK_LENGTH = 2 + 3 * DIMENSION_COUNT;

/** Spans from short to long: short ones show changes soon, long ones are exact. */
export const FAST = 0;
export const BRIEF = 1;
export const MEDIUM = 2;
export const SLOW = 3;
export const LONG = 4;
export const SPAN_COUNT = 5;
/** A span that no change cuts: sizes do not follow rates. */
export const SIZES = 5;
const SPANS_END = 6;

/**
 * Keeps the samples of one lane: where its spans begin.
 *
 * fast:  the newest mark at least `fastSpanMs` old, from a ring of one mark per sample
 * slow:  `slowSpanMs`; brief and medium stand between the two in equal ratios (50 ms, 232 ms, 1.1 s, 5 s), because a
 *        step of some ten per cent is noise to the one and is found late by the other
 * long:  12 × slow
 *
 * All but fast roll over two marks, so they cover once to twice their length.
 *
 * When a change is noticed, all spans but SIZES begin anew: a 5 s average that contains the old rate would report a
 * ramp where there was a step. The span that noticed it contains some of the old rate as well, so a change is looked at
 * again soon (settling.ts).
 */
export class LaneSample {
  /** Claim, units per second, while work is held back; Infinity where unlimited (estimate.ts). */
  readonly claim = noUnits();
  readonly #fastSpanMs: number;
  readonly #ringLength: number;
  #newest = 0;
  #filled = 0;
  /** Marks of the ring, then both marks of each span. */
  readonly #column: number[];
  readonly #spanMs: readonly number[];
  #heldBackMs = 0;
  #retryRefusals = 0;

  constructor(fastSpanMs: number, slowSpanMs: number, sampleIntervalMs: number) {
    this.#fastSpanMs = fastSpanMs;
    this.#spanMs = spansOf(fastSpanMs, slowSpanMs);
    this.#ringLength = Math.ceil(fastSpanMs / sampleIntervalMs) + 2;
    this.#column = new Array<number>(this.#olderOf(SPANS_END) * MARK_LENGTH).fill(0);
  }

  get now(): Mark {
    return this.#back(0);
  }

  get last(): Mark {
    return this.#back(Math.min(1, this.#filled - 1));
  }

  /** Begins all spans now. */
  begin(limiter: Limiter, lane: number, nowMs: number): void {
    this.#filled = 0;
    this.take(limiter, lane, nowMs);
    for (let span = BRIEF; span < SPANS_END; span++) this.#restart(span, this.now);
  }

  /** Reads the limiter's counters and rolls the spans. */
  take(limiter: Limiter, lane: number, nowMs: number): void {
    const previousMs = this.now.atMs;
    const retryRefusals = limiter.retryRefusals.at(lane);
    const isHeldBack =
      retryRefusals > this.#retryRefusals || limiter.heldBack[lane] > 0 || limiter.heldBackElsewhere.has(lane);
    if (isHeldBack && this.#filled > 0) this.#heldBackMs += nowMs - previousMs;
    this.#retryRefusals = retryRefusals;
    this.#newest = (this.#newest + 1) % this.#ringLength;
    this.#filled = Math.min(this.#filled + 1, this.#ringLength);
    const mark = this.now;
    mark.take(limiter, lane, nowMs, this.#heldBackMs);
    if (this.#filled > 1 && this.#back(1).isAbove(mark)) {
      // The counters were set to 0 (limiter.ts, `keepExact`), so the spans begin anew.
      this.begin(limiter, lane, nowMs);
      return;
    }
    for (let span = BRIEF; span < SPANS_END; span++) this.#roll(span, mark);
  }

  beginOf(span: number): Mark {
    if (span !== FAST) return this.#markAt(this.#olderOf(span));
    const nowMs = this.now.atMs;
    for (let back = 1; back < this.#filled; back++) {
      const mark = this.#back(back);
      if (nowMs - mark.atMs >= this.#fastSpanMs) return mark;
    }
    return this.#back(Math.max(0, this.#filled - 1));
  }

  lengthMs(span: number): number {
    return this.now.atMs - this.beginOf(span).atMs;
  }

  /** Tests if the span has been filled since its last cut. */
  isFull(span: number): boolean {
    return this.lengthMs(span) >= this.#spanMs[span];
  }

  /** True = nothing has come since the longest span began. */
  get isQuiet(): boolean {
    return this.now.isAsAt(this.beginOf(LONG));
  }

  /** Begins all spans but SIZES anew, because a change was noticed. */
  cut(): void {
    this.#filled = 1;
    for (let span = BRIEF; span < SPAN_COUNT; span++) this.#restart(span, this.now);
  }

  /** Begins the long span anew at a mark: what came before is no part of the present rates. */
  cutLong(from: Mark): void {
    this.#restart(LONG, from);
  }

  #back(count: number): Mark {
    return this.#markAt((this.#newest - count + this.#ringLength) % this.#ringLength);
  }

  #markAt(index: number): Mark {
    return new Mark(this.#column, index);
  }

  #olderOf(span: number): number {
    return this.#ringLength + 2 * (span - BRIEF);
  }

  #roll(span: number, mark: Mark): void {
    const older = this.#olderOf(span);
    const newer = this.#markAt(older + 1);
    if (mark.atMs - newer.atMs < this.#spanMs[span]) return;
    newer.copyTo(older);
    mark.copyTo(older + 1);
  }

  #restart(span: number, mark: Mark): void {
    const older = this.#olderOf(span);
    mark.copyTo(older);
    mark.copyTo(older + 1);
  }
}

/** Computes the length of the longest span: a lane that has been silent for as long has no rates. */
export function longSpanMs(slowMs: number): number {
  return 12 * slowMs;
}

let lastSpans: readonly number[] = [];

/** Computes the lengths of the spans; the lanes of a node share one list. */
function spansOf(fastMs: number, slowMs: number): readonly number[] {
  if (lastSpans[FAST] === fastMs && lastSpans[SLOW] === slowMs) return lastSpans;
  const ratio = Math.cbrt(slowMs / fastMs);
  lastSpans = [fastMs, fastMs * ratio, slowMs / ratio, slowMs, longSpanMs(slowMs), slowMs];
  return lastSpans;
}
