import type { Arrival } from './world.js';

/** Messages per second that were admitted in a span, at one node or, without `node`, at all. */
export function admittedRate(arrivals: readonly Arrival[], fromMs: number, toMs: number, node?: string): number {
  let total = 0;
  for (const arrival of arrivals) {
    if (
      arrival.granted &&
      arrival.atMs >= fromMs &&
      arrival.atMs < toMs &&
      (node === undefined || arrival.node === node)
    ) {
      total += arrival.messages;
    }
  }
  return total / ((toMs - fromMs) / 1000);
}

/** The part (0 … 1) of a node's arrivals that was refused. */
export function refusedPart(arrivals: readonly Arrival[], fromMs: number, toMs: number, node: string): number {
  const own = arrivals.filter((arrival) => arrival.node === node && arrival.atMs >= fromMs && arrival.atMs < toMs);
  return own.filter((arrival) => !arrival.granted).length / own.length;
}

/** The most messages per second that were admitted in any span of `spanMs`. */
export function worstSpan(arrivals: readonly Arrival[], spanMs: number, fromMs: number, toMs: number): number {
  const granted = arrivals.filter((arrival) => arrival.granted && arrival.atMs >= fromMs && arrival.atMs < toMs);
  let worst = 0;
  let inside = 0;
  let oldest = 0;
  for (const arrival of granted) {
    inside += arrival.messages;
    while (granted[oldest].atMs <= arrival.atMs - spanMs) inside -= granted[oldest++].messages;
    worst = Math.max(worst, inside);
  }
  return worst / (spanMs / 1000);
}
