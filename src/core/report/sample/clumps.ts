import { DIMENSION_COUNT } from '../../base/vocabulary.js';
import { CHANCE_PIECES, LATELY_MS, SILENT_SLOW_SPANS } from '../constants/constants.js';
import type { LaneSample } from './lane-sample.js';

/**
 * Estimates how many pieces of a lane come together lately. It is the variance of arrivals between two looks, in units
 * of single pieces' variance:
 *
 *     variance of one look = max(0, arrived before − arrived now)²
 *
 * On average that is the variance of independent arrivals, and of clumps of k pieces k times as much. Only falls count:
 * until a burst is over it looks like a risen rate, and a rise that lasts must be noticed at once. Rejected: the
 * squared distance from the mean, which counts each step of a rate as a clump for as long as it is remembered; and
 * weights that fade, by which one burst of 600 passes for clumps until 35 s of 20/s are over.
 */
export class Clumps {
  /** Per dimension: the last arrivals, then the sums of the present window, then those of the one before. */
  readonly #column = new Array<number>(COLUMN * DIMENSION_COUNT).fill(0);
  /** Begin of the present window: its first arrival, or the end of the one before. */
  #beginMs = 0;
  #isEmpty = true;

  /** Counts the arrivals of the lane's newest sample. */
  take(sample: LaneSample): void {
    const { now, last } = sample;
    if (now.atMs - this.#beginMs >= (this.#isEmpty ? SILENT_SLOW_SPANS : 1) * LATELY_MS) this.#turn(now.atMs);
    const column = this.#column;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const at = COLUMN * dimension;
      const arrived = now.attempted(dimension) - last.attempted(dimension);
      const fell = Math.max(0, column[at] - arrived);
      column[at] = arrived;
      column[at + FELL] += fell * fell;
      column[at + SQUARES] += now.squares(dimension) - last.squares(dimension);
      if (arrived === 0 || !this.#isEmpty) continue;
      this.#isEmpty = false;
      this.#beginMs = now.atMs;
    }
  }

  /** Begins a window. One without arrivals is longer: between rare bursts the last one is remembered. */
  #turn(nowMs: number): void {
    const column = this.#column;
    this.#isEmpty = true;
    this.#beginMs = nowMs;
    for (let at = 0; at < column.length; at += COLUMN) {
      column[at + BEFORE + FELL] = column[at + FELL];
      column[at + BEFORE + SQUARES] = column[at + SQUARES];
      column[at + FELL] = 0;
      column[at + SQUARES] = 0;
    }
  }

  /** Pieces that come together; at least 1, for single pieces. */
  piecesOf(dimension: number): number {
    const column = this.#column;
    const at = COLUMN * dimension;
    const squares = column[at + SQUARES] + column[at + BEFORE + SQUARES];
    const pieces = squares > 0 ? (column[at + FELL] + column[at + BEFORE + FELL]) / squares : 1;
    return pieces > CHANCE_PIECES ? pieces : 1;
  }
}

/** Places of sums in a column: Σ falls², and that of single pieces; BEFORE is the offset of the window before. */
const FELL = 1;
const SQUARES = 2;
const BEFORE = 2;
const COLUMN = 1 + 2 * BEFORE;

export interface Clumped {
  clumpsOf(dimension: number): number;
}
