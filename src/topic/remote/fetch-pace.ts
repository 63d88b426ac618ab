/** Fetches that are answered at once one after the other: a burst of reports is read as it comes. */
const BURST_FETCHES = 8;

/**
 * When a reader that has read everything fetches again: at once, as long as news is rare, and every `intervalMs` where
 * it never ends. A fetch costs 0.5 ms of CPU (request, answer, wake-up), whatever it brings, and a record of a large
 * cluster comes every 3 ms: so 25 fetches a second bring what 190 did. Of a cluster whose log has fewer than 25 record
 * batches a second no record is ever held up.
 */
export class FetchPace {
  readonly #intervalMs: number;
  #credit = BURST_FETCHES;
  #lastMs = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Counts a fetch; returns how many milliseconds it has to wait. */
  next(nowMs: number): number {
    if (this.#intervalMs === 0) return 0;
    const earned = (nowMs - this.#lastMs) / this.#intervalMs;
    this.#credit = Math.min(BURST_FETCHES, this.#credit + earned) - 1;
    this.#lastMs = nowMs;
    return Math.max(0, -this.#credit * this.#intervalMs);
  }
}
