import { DIMENSION_COUNT } from '../base/vocabulary.js';

/** How many windows of local time are kept, the current one among them. */
export const LEAST_SHARE_WINDOWS = 4;

/**
 * The least share that a lane has applied lately, per dimension: an isolated node may hold that much.
 *
 * A share rises when a record says that another node needs less. If the topic fails at that moment, the other node may
 * not have read that record and keeps its part, so both hold it. The shares that follow from one place of the log add
 * up to the target at most. A node that holds the least share that it had since such a place takes nothing twice.
 *
 * The least is taken over three whole windows and the current one. A lane takes ten numbers.
 */
export class LeastShare {
  readonly #window = new Float64Array(DIMENSION_COUNT).fill(Number.NEGATIVE_INFINITY);
  readonly #least = new Float64Array(DIMENSION_COUNT * LEAST_SHARE_WINDOWS);

  /** Called when a share is applied; `held` was applied until now, Infinity = the lane was not served. */
  note(dimension: number, held: number, share: number, window: number): void {
    this.#roll(dimension, held, window);
    const at = dimension * LEAST_SHARE_WINDOWS + (window % LEAST_SHARE_WINDOWS);
    if (share < (this.#least[at] as number)) this.#least[at] = share;
  }

  /** The least share up to now; `held` has been applied since the last `note`. */
  of(dimension: number, held: number, window: number): number {
    this.#roll(dimension, held, window);
    let least = held;
    const first = dimension * LEAST_SHARE_WINDOWS;
    for (let at = first; at < first + LEAST_SHARE_WINDOWS; at++) least = Math.min(least, this.#least[at] as number);
    return least;
  }

  /** Writes what was held into the windows that have begun since the last call. */
  #roll(dimension: number, held: number, window: number): void {
    const known = this.#window[dimension] as number;
    if (window === known) return;
    for (let begun = Math.max(known, window - LEAST_SHARE_WINDOWS) + 1; begun <= window; begun++) {
      // Twice, because the first windows are counted from below 0.
      const place = ((begun % LEAST_SHARE_WINDOWS) + LEAST_SHARE_WINDOWS) % LEAST_SHARE_WINDOWS;
      this.#least[dimension * LEAST_SHARE_WINDOWS + place] = held;
    }
    this.#window[dimension] = window;
  }
}
