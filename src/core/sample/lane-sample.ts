import type { Limiter } from '../limiter/limiter.js';
import { DIMENSION_COUNT, slotOf } from '../vocabulary.js';

/**
 * Cumulative counters of one lane at one time; the difference of two marks is what happened between them.
 * Squares of sizes are needed by the noise rule; `heldBackMs` is time in which work that had been refused before was
 * refused again.
 */
export interface Mark {
  atMs: number;
  heldBackMs: number;
  readonly attempted: Float64Array;
  readonly squares: Float64Array;
  readonly admitted: Float64Array;
}

/** Windows from short to long; the short ones notice, the long ones are exact. */
export const FAST = 0;
export const BRIEF = 1;
export const MEDIUM = 2;
export const SLOW = 3;
export const LONG = 4;
export const WINDOW_COUNT = 5;
/** A window that no change cuts: what a piece of work weighs does not follow the rate. */
export const SIZES = 5;
const ROLLED_COUNT = 6;

/**
 * The samples of one lane: where its windows begin.
 *
 * fast:  the newest mark at least `fastWindowMs` old, from a ring of one mark per sample
 * slow:  `slowWindowMs`; brief and medium stand between the two in equal ratios (50 ms, 232 ms, 1.1 s, 5 s), because a
 * step of
 *        some ten per cent is noise to the one and is found late by the other; long: 12 × slow. They roll over two
 * marks, so they
 *        cover once to twice their length
 *
 * When a change is noticed, all windows begin anew: what came before no longer describes the lane, and a 5 s average
 * that contains the old rate would report a ramp where there was a step. The window that noticed it contains some of
 * the old rate as well, which is why a change is looked at again soon (report/settling.ts).
 */
export class LaneSample {
  /**
   * What the lane asks for while its work is held back, units per second; Infinity where unlimited
   * (report/estimate.ts).
   */
  readonly claim = new Float64Array(DIMENSION_COUNT);
  readonly #fastWindowMs: number;
  readonly #ring: Mark[];
  #newest = 0;
  #filled = 0;
  readonly #older: Mark[];
  readonly #newer: Mark[];
  readonly #windowMs: readonly number[];
  #heldBackMs = 0;
  #retryRefusals = 0;

  constructor(fastWindowMs: number, slowWindowMs: number, sampleIntervalMs: number) {
    this.#fastWindowMs = fastWindowMs;
    const ratio = Math.cbrt(slowWindowMs / fastWindowMs);
    this.#windowMs = [
      fastWindowMs,
      fastWindowMs * ratio,
      slowWindowMs / ratio,
      slowWindowMs,
      12 * slowWindowMs,
      slowWindowMs,
    ];
    this.#ring = Array.from({ length: Math.ceil(fastWindowMs / sampleIntervalMs) + 2 }, createMark);
    this.#older = Array.from({ length: ROLLED_COUNT }, createMark);
    this.#newer = Array.from({ length: ROLLED_COUNT }, createMark);
  }

  /** The latest mark. */
  get now(): Mark {
    return this.#ring[this.#newest] as Mark;
  }

  /** All windows begin now. */
  begin(limiter: Limiter, lane: number, nowMs: number): void {
    this.#filled = 0;
    this.#retryRefusals = limiter.retryRefusals[lane] as number;
    this.take(limiter, lane, nowMs);
    for (let window = BRIEF; window < ROLLED_COUNT; window++) this.#restart(window, this.now);
  }

  /** Reads the limiter's counters and rolls the windows. */
  take(limiter: Limiter, lane: number, nowMs: number): void {
    const previousMs = this.now.atMs;
    const retryRefusals = limiter.retryRefusals[lane] as number;
    if (retryRefusals > this.#retryRefusals && this.#filled > 0) this.#heldBackMs += nowMs - previousMs;
    this.#retryRefusals = retryRefusals;
    this.#newest = (this.#newest + 1) % this.#ring.length;
    this.#filled = Math.min(this.#filled + 1, this.#ring.length);
    const mark = this.now;
    mark.atMs = nowMs;
    mark.heldBackMs = this.#heldBackMs;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const slot = slotOf(lane, dimension);
      mark.attempted[dimension] = limiter.attempted[slot] as number;
      mark.squares[dimension] = limiter.attemptedSquares[slot] as number;
      mark.admitted[dimension] = limiter.admitted[slot] as number;
    }
    for (let window = BRIEF; window < ROLLED_COUNT; window++) this.#roll(window, mark);
  }

  /** Where a window begins. */
  beginOf(window: number): Mark {
    if (window !== FAST) return this.#older[window] as Mark;
    const nowMs = this.now.atMs;
    for (let back = 1; back < this.#filled; back++) {
      const mark = this.#back(back);
      if (nowMs - mark.atMs >= this.#fastWindowMs) return mark;
    }
    return this.#back(Math.max(0, this.#filled - 1));
  }

  lengthMs(window: number): number {
    return this.now.atMs - this.beginOf(window).atMs;
  }

  /** Whether the window has been filled since its last cut. */
  isFull(window: number): boolean {
    return this.lengthMs(window) >= (this.#windowMs[window] as number);
  }

  /** A change was noticed: all windows begin now. */
  cut(): void {
    this.#filled = 1;
    for (let window = BRIEF; window < WINDOW_COUNT; window++) this.#restart(window, this.now);
  }

  #back(count: number): Mark {
    const length = this.#ring.length;
    return this.#ring[(this.#newest - count + length) % length] as Mark;
  }

  #roll(window: number, mark: Mark): void {
    const newer = this.#newer[window] as Mark;
    if (mark.atMs - newer.atMs < (this.#windowMs[window] as number)) return;
    copyMark(newer, this.#older[window] as Mark);
    copyMark(mark, newer);
  }

  #restart(window: number, mark: Mark): void {
    copyMark(mark, this.#older[window] as Mark);
    copyMark(mark, this.#newer[window] as Mark);
  }
}

function createMark(): Mark {
  return {
    atMs: 0,
    heldBackMs: 0,
    attempted: new Float64Array(DIMENSION_COUNT),
    squares: new Float64Array(DIMENSION_COUNT),
    admitted: new Float64Array(DIMENSION_COUNT),
  };
}

function copyMark(from: Mark, to: Mark): void {
  to.atMs = from.atMs;
  to.heldBackMs = from.heldBackMs;
  to.attempted.set(from.attempted);
  to.squares.set(from.squares);
  to.admitted.set(from.admitted);
}
