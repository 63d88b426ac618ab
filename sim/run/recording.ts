import type { Happening } from '../scenario/scenario.js';

/** What was seen of a cluster of real nodes. Times are milliseconds since the run began. */
export interface Recording {
  /** The system's name in the result. */
  readonly system: string;
  /** What was done to the nodes, sorted by the time at which it was really done. */
  readonly happenings: readonly Happening[];
  readonly attempts: Attempts;
  /** Node → its limits. */
  readonly limits: ReadonlyMap<string, LimitColumn>;
  /** Appended to the topic by all nodes. */
  readonly sent: { readonly records: number; readonly bytes: number };
}

/** Columns of equal length, in any order. */
export interface Attempts {
  readonly atMs: Float64Array;
  readonly node: Uint16Array;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
  readonly retry: Uint8Array;
  readonly admitted: Uint8Array;
}

/** What a node's limiter was set to, from `atMs[k]` on; units per second, Infinity = unlimited; times rise. */
export interface LimitColumn {
  readonly atMs: readonly number[];
  readonly limits: readonly (readonly [messages: number, bytes: number])[];
}
