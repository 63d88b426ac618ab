import { DRIFT_PER } from './constants.js';

/**
 * Bounds log time by the monotonic clock of this node.
 *
 * A record was appended before it was read, so log time is at least its own plus what has passed since. An own record
 * was appended after it was sent: so log time is at most its own, plus one, plus what has passed since it was sent.
 * Both widen by what clocks drift. The clock must go on in suspend.
 *
 * *Worked:* sent at 100, read at 108, appended at 5,000 of the log: at 110 of this node log time lies within 5,001 (two
 * passed, one lost to drift) and 5,012 (1 + ten passed, and one for drift).
 */
export class StrictClock {
  #low = -Infinity;
  #lowReadMs = 0;
  #high = Infinity;
  #highSentMs = 0;

  lowAt(nowMs: number): number {
    const passed = Math.floor(nowMs - this.#lowReadMs);
    return this.#low + passed - Math.ceil(passed / DRIFT_PER);
  }

  /** Computes when log time is as late, if nothing is read. */
  reachedAtMs(logMs: number): number {
    const passed = Math.ceil(Math.max(0, logMs - this.#low) * (1 + 2 / DRIFT_PER)) + 2;
    return this.#lowReadMs + passed;
  }

  highAt(nowMs: number): number {
    const passed = Math.ceil(nowMs - this.#highSentMs);
    return this.#high + passed + Math.ceil(passed / DRIFT_PER);
  }

  /** @param isWhole false = the log's clock went further: what was known before is too high */
  read(logMs: number, nowMs: number, isWhole: boolean): void {
    if (!isWhole || logMs > this.lowAt(nowMs) || this.#low === -Infinity) this.#countFrom(logMs, nowMs);
    // The log's clock went faster than it may: nothing is known until the next own record.
    if (logMs > this.highAt(nowMs)) this.#high = Infinity;
  }

  readOwn(logMs: number, sentMs: number, nowMs: number): void {
    const high = logMs + 1 + Math.ceil(nowMs - sentMs) + Math.ceil((nowMs - sentMs) / DRIFT_PER);
    // The log's clock went slower than it may, as one does that is set back.
    if (high < this.lowAt(nowMs)) this.#countFrom(logMs, nowMs);
    if (high >= this.highAt(nowMs)) return;
    this.#high = logMs + 1;
    this.#highSentMs = sentMs;
  }

  #countFrom(logMs: number, nowMs: number): void {
    this.#low = logMs;
    this.#lowReadMs = nowMs;
  }

  /** Forgets all, as the bucket begins anew. */
  forget(): void {
    this.#low = -Infinity;
    this.#high = Infinity;
  }
}
