import type { Happening } from '../scenario/scenario.js';

export interface Recording {
  readonly system: string;
  /** Happenings, by when they were done. */
  readonly happenings: readonly Happening[];
  readonly attempts: Attempts;
  readonly limits: ReadonlyMap<string, LimitColumn>;
  readonly sent: { readonly records: number; readonly bytes: number };
}

export interface Attempts {
  readonly atMs: Float64Array;
  readonly node: Uint16Array;
  readonly messages: Float64Array;
  readonly bytes: Float64Array;
  readonly retry: Uint8Array;
  readonly admitted: Uint8Array;
}

/** Limits from `atMs[k]` on; units/s, Infinity = unlimited; times rise. */
export interface LimitColumn {
  readonly atMs: readonly number[];
  readonly limits: readonly (readonly [messages: number, bytes: number])[];
}
