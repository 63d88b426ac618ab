import { DIMENSION_COUNT } from '../vocabulary.js';

/** Windows of local time that are looked back on, the one that has begun among them. */
export const WINDOWS = 4;

/**
 * The least share that a lane has applied lately, per dimension: what an isolated node may hold.
 *
 * A node rises by a record that says that another one needs less. When the topic goes right then, the other one has
 * perhaps not read that record, and holds on to the same part. What every node has applied for a moment at the same
 * place of the log sums up to the target at most, so whoever holds the least since before then takes no part twice.
 *
 * At least three whole windows are looked back on, and four at most: ten numbers a lane.
 */
export class LeastShare {
  readonly #window = new Float64Array(DIMENSION_COUNT).fill(Number.NEGATIVE_INFINITY);
  readonly #least = new Float64Array(DIMENSION_COUNT * WINDOWS);

  /** A share is applied from now on; `held` was until now, Infinity where there was none. */
  note(dimension: number, held: number, share: number, window: number): void {
    this.#roll(dimension, held, window);
    const at = dimension * WINDOWS + (window % WINDOWS);
    if (share < (this.#least[at] as number)) this.#least[at] = share;
  }

  /** `held` is applied now, and has been since the last note. */
  of(dimension: number, held: number, window: number): number {
    this.#roll(dimension, held, window);
    let least = held;
    for (let at = dimension * WINDOWS; at < (dimension + 1) * WINDOWS; at++) {
      least = Math.min(least, this.#least[at] as number);
    }
    return least;
  }

  /** In the windows that have begun since, what was held. */
  #roll(dimension: number, held: number, window: number): void {
    const known = this.#window[dimension] as number;
    if (window === known) return;
    for (let passed = Math.max(known, window - WINDOWS) + 1; passed <= window; passed++) {
      this.#least[dimension * WINDOWS + (((passed % WINDOWS) + WINDOWS) % WINDOWS)] = held;
    }
    this.#window[dimension] = window;
  }
}
