import { decay } from '../../base/decay.js';
import { DIMENSION_COUNT } from '../../base/vocabulary.js';
import type { LaneSample } from './lane-sample.js';

/**
 * Estimates how many pieces of work of a lane come together, on average over the last seconds: the variance of what
 * arrives between two looks, in that of pieces that come one by one.
 *
 *     variance of one look = max(0, arrived before − arrived now)²
 *
 * On average that is the variance of independent arrivals, and of clumps of k pieces k times as much. Only falls count:
 * a burst cannot be told from a rate that has risen until it is over, and a rise that lasts must be seen at once.
 * Rejected: the squared distance from the mean, which takes each step of a rate for a clump for as long as it is
 * remembered.
 */
export class Clumps {
  /** Per dimension: what arrived last, the variance of what arrived, and what it would be of single pieces. */
  readonly #column = new Array<number>(3 * DIMENSION_COUNT).fill(0);

  /** The lane has been sampled. */
  take(sample: LaneSample): void {
    const { now, last } = sample;
    const kept = decay((now.atMs - last.atMs) / KEPT_MS);
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

  /** At least 1, for pieces that come one by one. */
  piecesOf(dimension: number): number {
    const squares = this.#column[3 * dimension + 2];
    const pieces = squares > 0 ? this.#column[3 * dimension + 1] / squares : 1;
    return pieces > CHANCE ? pieces : 1;
  }
}

/** Source of how many pieces of a lane come together. */
export interface Clumped {
  clumpsOf(dimension: number): number;
}

const KEPT_MS = 5000;
/** So many pieces come together by chance where few arrive. */
const CHANCE = 3;
