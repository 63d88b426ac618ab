export interface BurstRule {
  readonly burstMs: number;
  readonly burstMinMessages: number;
}

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
export function burstDepth(limit: number, rule: BurstRule, pieceSize: number, equalShare: number): number {
  return depthWithin(limit, rule, pieceSize, Math.max(pieceSize, equalShare * BOUND_SECONDS));
}

/**
 * Burst of a node's part of a group, with two bounds of its own (docs/decisions/0004):
 *
 * A node that has reported nothing is bounded by a tenth of a second of target/N. It has no noise to absorb yet, and
 * nodes that wake together all bring full buckets. Worked: ten idle nodes, target 1,000, 20 → 10 tokens each; the
 * second in which all wake admits 1.08 quotas instead of 1.18.
 *
 * A node with a demand has up to one piece more, at most half a second of target/N. At small rates a bucket of one
 * token is full half of the time, and the tokens that it cannot take in go to nobody. Worked: target 10, N = 10 → 1.5
 * tokens; N = 3 → 2.
 */
export function shareDepth(
  limit: number,
  rule: BurstRule,
  { pieceSize, equalShare, hasDemand }: { pieceSize: number; equalShare: number; hasDemand: boolean },
): number {
  if (!hasDemand) return depthWithin(limit, rule, pieceSize, Math.max(pieceSize, equalShare * IDLE_BOUND_SECONDS));
  const small = pieceSize + Math.min(pieceSize, equalShare * SECOND_PIECE_SECONDS);
  return depthWithin(limit, rule, pieceSize, Math.max(small, equalShare * BOUND_SECONDS));
}

const BOUND_SECONDS = 0.25;
const IDLE_BOUND_SECONDS = 0.1;
const SECOND_PIECE_SECONDS = 0.5;

function depthWithin(limit: number, rule: BurstRule, pieceSize: number, mostMinimum: number): number {
  return Math.max((limit * rule.burstMs) / 1000, Math.min(rule.burstMinMessages * pieceSize, mostMinimum));
}
