import type { Arrival } from './world.js';

/** Messages admitted per second over a span, of all nodes or one. */
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

/** Part of the arrivals of a node that was refused. */
export function refusedPart(arrivals: readonly Arrival[], fromMs: number, toMs: number, node: string): number {
  const own = arrivals.filter((arrival) => arrival.node === node && arrival.atMs >= fromMs && arrival.atMs < toMs);
  return own.filter((arrival) => !arrival.granted).length / own.length;
}

/** Most messages admitted in any span of `spanMs`, per second. */
export function worstSpan(arrivals: readonly Arrival[], spanMs: number, fromMs: number, toMs: number): number {
  const granted = arrivals.filter((arrival) => arrival.granted && arrival.atMs >= fromMs && arrival.atMs < toMs);
  let worst = 0;
  let inside = 0;
  let oldest = 0;
  for (const arrival of granted) {
    inside += arrival.messages;
    while ((granted[oldest] as Arrival).atMs <= arrival.atMs - spanMs)
      inside -= (granted[oldest++] as Arrival).messages;
    worst = Math.max(worst, inside);
  }
  return worst / (spanMs / 1000);
}
