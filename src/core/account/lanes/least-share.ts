import { DIMENSION_COUNT, noUnits } from '../../base/vocabulary.js';

/** Spans of local time kept, the current one included. */
export const LEAST_SHARE_SPANS = 4;

/**
 * Keeps the least share applied lately, which an isolated node may hold.
 *
 * A share rises when a record shows that another node needs less. If the topic fails at that moment, the other node may
 * not have read that record and keeps its part, so both hold it. The shares that follow from one offset of the log add
 * up to the target at most. A node that holds its least share since such an offset takes nothing twice.
 *
 * The least is taken over three whole spans and the current one. A lane takes ten numbers.
 */
export class LeastShare {
  readonly #span = noUnits().fill(-Infinity);
  readonly #least = new Array<number>(DIMENSION_COUNT * LEAST_SHARE_SPANS).fill(0);

  /** Called when a share is applied. `held` was applied until now, Infinity = the lane was not served. */
  note(dimension: number, held: number, share: number, span: number): void {
    this.#roll(dimension, held, span);
    const at = dimension * LEAST_SHARE_SPANS + (span % LEAST_SHARE_SPANS);
    if (share < this.#least[at]) this.#least[at] = share;
  }

  /** Returns the least share until now. `held` has been applied since the last `note`. */
  of(dimension: number, held: number, span: number): number {
    this.#roll(dimension, held, span);
    let least = held;
    const first = dimension * LEAST_SHARE_SPANS;
    for (let at = first; at < first + LEAST_SHARE_SPANS; at++) least = Math.min(least, this.#least[at]);
    return least;
  }

  /** Writes `held` into the spans begun since the last call. */
  #roll(dimension: number, held: number, span: number): void {
    const known = this.#span[dimension];
    if (span === known) return;
    for (let begun = Math.max(known, span - LEAST_SHARE_SPANS) + 1; begun <= span; begun++) {
      // Twice, because the first spans are counted from below 0.
      const index = ((begun % LEAST_SHARE_SPANS) + LEAST_SHARE_SPANS) % LEAST_SHARE_SPANS;
      this.#least[dimension * LEAST_SHARE_SPANS + index] = held;
    }
    this.#span[dimension] = span;
  }
}
