import { LOG_JUMP_MAX_MS, LOG_STEP_HEARTBEATS } from './constants.js';

/**
 * Measures the log time of one partition: Σ clamp(append time − previous append time, 0, 2 × heartbeat), in offset
 * order, with the partition's heartbeat. A time more than a year away is left out, unless it is the second one in a
 * row: then the clock was set.
 *
 * Everything in the core ages by log time. A jump of the log's clock or an outage of the log ages nothing, and no
 * node's own clock enters a share. Nodes that have read the same records agree on every difference of log times. After
 * compaction a newcomer misses records, so its differences can only be smaller: it counts a dead node as alive for at
 * most one staleness longer than the others, and takes less meanwhile.
 */
export class LogTime {
  /** Milliseconds since the first record read. */
  ms = 0;
  /**
   * Log time that goes on while no node runs. The time before the first record of a life counts whole, because no node
   * may have run in it. Buckets fill, and ceilings of ramps end, by span time. Before a reader has caught up, all time
   * counts whole: compaction may have removed that first record.
   */
  spanMs = 0;
  /**
   * Counts milliseconds of `spanMs` in which no node ran: what steps above `stepLimitMs` have more than it. Stays 0
   * until the reader has caught up: before, the records of a gap may have been compacted.
   */
  pauseMs = 0;
  /** All time between records; never less than `spanMs`. A reader counts by it before it has caught up. */
  wholeMs = 0;
  /** Most milliseconds that log time advances between two records. */
  readonly stepLimitMs: number;
  /** Part of the last step outside of `ms` and `spanMs`. */
  #uncountedMs = 0;
  #previousAppendMs: number | null = null;
  /** Time of the last record if it was left out, else NaN. */
  #leftOutMs = Number.NaN;

  constructor(heartbeatMs: number) {
    this.stepLimitMs = stepLimitMs(heartbeatMs);
  }

  /** Append time of the last record that counted; 0 = none yet. */
  get appendMs(): number {
    return this.#previousAppendMs ?? 0;
  }

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
   * Counts the time before the last record whole in `spanMs`.
   * @param isPause true = no node can have run in that time
   */
  countWholeStep(isPause: boolean): void {
    this.spanMs += this.#uncountedMs;
    if (isPause) this.pauseMs += this.#uncountedMs;
    this.#uncountedMs = 0;
  }
}

/** Bounds the milliseconds that log time advances between two records. */
export function stepLimitMs(heartbeatMs: number): number {
  return LOG_STEP_HEARTBEATS * heartbeatMs;
}

/** NaN is far from everything. */
function isFar(ms: number, sinceMs: number): boolean {
  return !(Math.abs(ms - sinceMs) <= LOG_JUMP_MAX_MS);
}
