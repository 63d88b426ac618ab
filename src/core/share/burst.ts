/**
 * Depth of a bucket, in units: `burstMs` of the limit, at least `burstMinMessages` pieces of work, so that the noise of
 * small rates is not refused (20 tokens: 0 % refused at 80/s Poisson where 100 ms alone refuse 6 %).
 *
 * The minimum is bounded by a quarter of a second of target/N: bursts are part of over-admission, and 20 tokens on each
 * of ten nodes would be two seconds' worth of a quota of 100/s (docs/decisions/0004).
 *
 * @param limit units per second
 * @param pieceSize units per piece of work; 1 for messages
 * @param equalShare target ÷ N, units per second
 */
export function burstDepth(
  limit: number,
  rule: { readonly burstMs: number; readonly burstMinMessages: number },
  pieceSize: number,
  equalShare: number,
): number {
  const byTime = (limit * rule.burstMs) / 1000;
  const bound = Math.max(pieceSize, equalShare * MIN_BURST_BOUND_SECONDS);
  return Math.max(byTime, Math.min(rule.burstMinMessages * pieceSize, bound));
}

const MIN_BURST_BOUND_SECONDS = 0.25;
