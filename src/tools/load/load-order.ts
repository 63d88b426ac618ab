import type { ArrivalStream } from '../../../sim/load/arrival-streams.js';

/** What arrives when, and where it is asked for. */
export interface LoadStream {
  /** Marks its calls. */
  readonly tag: number;
  readonly arrivals: ArrivalStream;
  readonly group: string;
  /** Asked in turn: a node, and its second process where it has one. */
  readonly urls: readonly string[];
}

export interface LoadPlan {
  /** Epoch milliseconds of time 0 of the streams. */
  readonly sinceMs: number;
  readonly seed: number;
  /** A client waits so long for an answer. Infinity: until it comes. */
  readonly patienceMs: number;
  readonly streams: readonly LoadStream[];
}

/** Orders to the process of the load. */
export type LoadOrder =
  /** From now on, instead of what was played under this name before. */
  | { readonly kind: 'play'; readonly name: string; readonly plan: LoadPlan }
  /** What has ended since the last time; answered with a column of calls (call.ts). */
  | { readonly kind: 'collect' }
  /** No more arrivals; the answer comes when nothing is under way any more. */
  | { readonly kind: 'finish' }
  /** So that nobody stays frozen when we die. */
  | { readonly kind: 'frozen' | 'thawed'; readonly pid: number };

/** So much per second at one node from the beginning on, one message each. */
export function steadyStream(id: string, ratePerSecond: number, evenly: boolean): ArrivalStream {
  return {
    id,
    node: 0,
    profile: { atMs: [0], rate: [ratePerSecond] },
    evenly,
    size: 1,
    piece: { messages: 1, leastBytes: 0, mostBytes: 0 },
    retries: 0,
    retryAfterMs: 0,
    reader: null,
  };
}
