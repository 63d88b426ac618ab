/**
 * Log time of a partition is Σ clamp(append time − previous append time, 0, 2 × heartbeat), in offset order, with the
 * heartbeat of that partition. A time that is more than a year away is left out, unless it is the second one: then the
 * clock was set.
 *
 * Everything that ages in the core ages on it. A jump of the log's clock or an outage of the log ages nobody, and no
 * node's own clock enters a share. All who have read the same records agree on every difference of log times.
 * After compaction a newcomer misses records, so its differences can only be smaller: it believes a dead node for at
 * most one staleness longer than the others, and takes less for itself meanwhile, never more.
 */
export class LogTime {
  /** Milliseconds since the first record read. */
  ms = 0;
  /**
   * Log time that goes on while no node runs: all time before the first record of a life counts, because none may have
   * run in it. Buckets fill, and ceilings of ramps end, by it. Until a reader has caught up all time counts: compaction
   * may have removed that first record.
   */
  spanMs = 0;
  /**
   * Part of `spanMs` in which no node of this cluster ran: what `ms` does not count of steps that count whole, since
   * the reader has caught up. Before, it may have been compaction.
   */
  pauseMs = 0;
  /** Time between records, all of it: what a reader counts before it has caught up; never less than `spanMs`. */
  wholeMs = 0;
  /** Log time goes on by at most this from one record to the next. */
  readonly stepLimitMs: number;
  /** The part of the last step that counts neither in `ms` nor in `spanMs`. */
  #uncountedMs = 0;
  #previousAppendMs: number | null = null;
  /** Time of the last record, if that was left out. */
  #leftOutMs = Number.NaN;

  constructor(heartbeatMs: number) {
    this.stepLimitMs = stepLimitMs(heartbeatMs);
  }

  /** Append time of the last record that was not left out; 0 = none yet. */
  get appendMs(): number {
    return this.#previousAppendMs ?? 0;
  }

  /** Called when another log begins. */
  startAgain(): void {
    this.ms = 0;
    this.spanMs = 0;
    this.pauseMs = 0;
    this.wholeMs = 0;
    this.#uncountedMs = 0;
    this.#previousAppendMs = null;
    this.#leftOutMs = Number.NaN;
  }

  /** Goes on to the next record; returns false if its time is left out. */
  advanceTo(appendMs: number): boolean {
    let sinceMs = this.#previousAppendMs ?? appendMs;
    if (isFar(appendMs, sinceMs)) sinceMs = this.#leftOutMs;
    const isLeftOut = isFar(appendMs, sinceMs);
    this.#leftOutMs = isLeftOut ? appendMs : Number.NaN;
    this.#uncountedMs = 0;
    if (isLeftOut) return false;
    const stepMs = Math.max(0, appendMs - sinceMs);
    const countedMs = Math.min(stepMs, this.stepLimitMs);
    this.#uncountedMs = stepMs - countedMs;
    this.ms += countedMs;
    this.spanMs += countedMs;
    this.wholeMs += stepMs;
    this.#previousAppendMs = appendMs;
    return true;
  }

  /**
   * Called if the time before the last record counts whole in `spanMs`.
   * @param isPause whether no node can have run in it
   */
  countWholeStep(isPause: boolean): void {
    this.spanMs += this.#uncountedMs;
    if (isPause) this.pauseMs += this.#uncountedMs;
    this.#uncountedMs = 0;
  }
}

/** Log time goes on by at most this from one record to the next. */
export function stepLimitMs(heartbeatMs: number): number {
  return 2 * heartbeatMs;
}

/** NaN is far from everything. */
function isFar(ms: number, sinceMs: number): boolean {
  return !(Math.abs(ms - sinceMs) <= JUMP_MS_MAX);
}

/** A larger one believes a clock that is years off; a smaller one forgets what happened while all nodes were off. */
const JUMP_MS_MAX = 365 * 24 * 3_600_000;
