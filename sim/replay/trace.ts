import type { TimeFormat, TimeUnit } from './trace-time.js';

/** Which columns mean what, and how fast they are played. */
export interface TraceOptions {
  /** Column of the time. */
  readonly time: string;
  readonly timeFormat: TimeFormat;
  /** A number, or names of columns with `+` between them. */
  readonly messages: string;
  readonly bytes: string;
  /** Times as fast as recorded; > 0. */
  readonly speed: number;
  readonly nodes: number;
  /** `hash`, `round-robin` or a column. */
  readonly by: string;
  /** A column: each of its texts has a quota of its own. */
  readonly per?: string | undefined;
  /** How long refused rows wait before they ask again: a duration, or a column of durations; absent = they do not. */
  readonly retryAfter?: string | undefined;
  /** Between the fields; absent = as the header shows. */
  readonly delimiter?: string | undefined;
}

/** Describes a file, once its first row is read. */
export interface TraceFound {
  /** Time of the first row. */
  readonly begunMs: number;
  readonly unit: TimeUnit;
  readonly delimiter: string;
  /** Whether the times are dates; else they are since any moment. */
  readonly isDated: boolean;
}

/** A piece of work of a trace. */
export interface TraceArrival {
  /** Since the first one, at the speed at which it is played. */
  readonly atMs: number;
  /** 0 … nodes − 1. */
  readonly node: number;
  readonly messages: number;
  readonly bytes: number;
  /** Whose quota it takes from; empty where there is one for all. */
  readonly key: string;
  /** After how long it asks again if it is refused, on the mean; 0 = never. */
  readonly retryAfterMs: number;
  /** Line of the file. */
  readonly line: number;
}

/** A longer replay is a wrong unit of time or a forgotten --speed, and its simulation would take hours. */
export const REPLAY_MS_MAX = 86_400_000;

/** More of numbers that are no dates and have no --time-format: rows of milliseconds that are taken for seconds. */
export const UNDATED_MS_MAX = 3_600_000;

/** Each has a bucket per node and rings of spans: some 100 kB on all our strategies. */
export const KEYS_MAX = 5000;
