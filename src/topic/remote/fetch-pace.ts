/** Fetches answered at once, one after another: a burst is read as it comes. */
const BURST_FETCHES = 8;

/**
 * Paces fetches at the log's end: at once while records are rare, every `intervalMs` where each fetch brings some.
 * *Why:* a fetch costs 0.5 ms of CPU, and in large clusters fewer fetches bring the same records.
 */
export class FetchPace {
  readonly #intervalMs: number;
  #credit = BURST_FETCHES;
  #lastMs = 0;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Counts a fetch; returns milliseconds to wait. */
  next(nowMs: number): number {
    if (this.#intervalMs === 0) return 0;
    const earned = (nowMs - this.#lastMs) / this.#intervalMs;
    this.#credit = Math.min(BURST_FETCHES, this.#credit + earned) - 1;
    this.#lastMs = nowMs;
    return Math.max(0, -this.#credit * this.#intervalMs);
  }
}
