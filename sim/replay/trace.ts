import type { TimeFormat, TimeUnit } from './trace-time.js';

/** Meaning of columns, and speed. */
export interface TraceOptions {
  readonly time: string;
  readonly timeFormat: TimeFormat;
  /** Number, or names of columns joined by `+`. */
  readonly messages: string;
  readonly bytes: string;
  /** Times as fast as recorded; > 0. */
  readonly speed: number;
  readonly nodes: number;
  /** `hash`, `round-robin` or a column. */
  readonly by: string;
  /** Column of keys with a quota each. */
  readonly per?: string | undefined;
  /** Duration, or column of durations, before a retry; absent = none. */
  readonly retryAfter?: string | undefined;
  readonly delimiter?: string | undefined;
}

/** Description of a file, after its first row. */
export interface TraceFound {
  readonly begunMs: number;
  readonly unit: TimeUnit;
  readonly delimiter: string;
  /** True = dates; else times since any moment. */
  readonly isDated: boolean;
}

export interface TraceArrival {
  /** Milliseconds since the first, at the played speed. */
  readonly atMs: number;
  readonly node: number;
  readonly messages: number;
  readonly bytes: number;
  /** Key of the quota; empty = one for all. */
  readonly key: string;
  /** Mean milliseconds to a retry; 0 = never. */
  readonly retryAfterMs: number;
  readonly line: number;
}

/** Longest replay, ms; longer is a wrong unit or speed. */
export const REPLAY_MS_MAX = 86_400_000;

/** Longest undated replay without --time-format, ms: ms taken for s exceed it. */
export const UNDATED_MS_MAX = 3_600_000;

/** Most keys, some 100 kB each over our strategies. */
export const KEYS_MAX = 5000;
