import type { ArrivalStream } from '../../../sim/load/arrival-streams.js';

/** Arrivals, and where they go. */
export interface LoadStream {
  readonly tag: number;
  readonly arrivals: ArrivalStream;
  readonly group: string;
  readonly urls: readonly string[];
}

export interface LoadPlan {
  /** Epoch milliseconds of time 0. */
  readonly sinceMs: number;
  readonly seed: number;
  /** Milliseconds that a client waits; Infinity = until the answer. */
  readonly patienceMs: number;
  readonly streams: readonly LoadStream[];
}

/** Orders to the process of the load. */
export type LoadOrder =
  /** Plays from now on, instead of the former play of this name. */
  | { readonly kind: 'play'; readonly name: string; readonly plan: LoadPlan }
  /** Collects ended calls; answered with a column (call.ts). */
  | { readonly kind: 'collect' }
  /** Ends arrivals; answered when nothing is under way. */
  | { readonly kind: 'finish' }
  /** Names frozen processes, to be thawed if we die. */
  | { readonly kind: 'frozen' | 'thawed'; readonly pid: number };
