import type { Arrival } from './world.js';

/** Returns messages/s admitted in a span, at one node or all. */
export function admittedRate(arrivals: readonly Arrival[], fromMs: number, toMs: number, node?: string): number {
  let total = 0;
  for (const { granted, atMs, node: at, messages } of arrivals) {
    if (granted && atMs >= fromMs && atMs < toMs && (node === undefined || at === node)) total += messages;
  }
  return total / ((toMs - fromMs) / 1000);
}

/** Returns the refused part (0 … 1) of a node's arrivals. */
export function refusedPart(arrivals: readonly Arrival[], fromMs: number, toMs: number, node: string): number {
  const own = arrivals.filter((arrival) => arrival.node === node && arrival.atMs >= fromMs && arrival.atMs < toMs);
  return own.filter((arrival) => !arrival.granted).length / own.length;
}

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
