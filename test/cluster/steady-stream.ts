import type { ArrivalStream } from '../../sim/load/arrival-streams.js';

/** Makes a steady stream of messages at one node. */
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
