import { decay } from '../../base/decay.js';
import { DIMENSION_COUNT } from '../../base/vocabulary.js';
import { CHANCE_PIECES, LATELY_MS } from '../constants/constants.js';
import type { LaneSample } from './lane-sample.js';

/**
 * Estimates how many pieces of a lane come together lately. It is the variance of arrivals between two looks, in units
 * of single pieces' variance:
 *
 *     variance of one look = max(0, arrived before − arrived now)²
 *
 * On average that is the variance of independent arrivals, and of clumps of k pieces k times as much. Only falls count:
 * until a burst is over it looks like a risen rate, and a rise that lasts must be noticed at once. Rejected: the
 * squared distance from the mean, which counts each step of a rate as a clump for as long as it is remembered.
 */
export class Clumps {
  /** Per dimension: the last arrivals, their variance, and that of single pieces. */
  readonly #column = new Array<number>(3 * DIMENSION_COUNT).fill(0);

  /** Counts the arrivals of the lane's newest sample. */
  take(sample: LaneSample): void {
    const { now, last } = sample;
    const kept = decay((now.atMs - last.atMs) / LATELY_MS);
    const column = this.#column;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const at = 3 * dimension;
      const arrived = now.attempted(dimension) - last.attempted(dimension);
      const fell = Math.max(0, column[at] - arrived);
      column[at] = arrived;
      column[at + 1] = kept * column[at + 1] + fell * fell;
      column[at + 2] = kept * column[at + 2] + now.squares(dimension) - last.squares(dimension);
    }
  }

  /** Pieces that come together; at least 1, for single pieces. */
  piecesOf(dimension: number): number {
    const squares = this.#column[3 * dimension + 2];
    const pieces = squares > 0 ? this.#column[3 * dimension + 1] / squares : 1;
    return pieces > CHANCE_PIECES ? pieces : 1;
  }
}

export interface Clumped {
  clumpsOf(dimension: number): number;
}
