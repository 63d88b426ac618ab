/** Depth of the bucket of a gate: a node's share, a topic or a client. */
export const GATE_DEPTH = {
  /** Milliseconds of the limit. With more, clumps pass, and the second after idling admits more above the quota. */
  burstMs: 100,
  /** Pieces of work at least. With more, noise of small rates passes, and each node admits as many at once. */
  leastPieces: 20,
  /** Seconds of target/N that bound these pieces. With more, small quotas are exceeded for longer. */
  boundSeconds: 0.25,
  /** Seconds of target/N for a node that has reported nothing. With more, nodes that wake together exceed more. */
  idleBoundSeconds: 0.1,
  /** Seconds of target/N that a second piece may take. With more, more of a small quota is used, and exceeded. */
  secondPieceSeconds: 0.5,
} as const;

/**
 * Computes the depth of a bucket in units:
 *
 *     max(burstMs of the limit, min(leastPieces pieces of work, max(one piece, boundSeconds of target/N)))
 *
 * The pieces are for the noise of small rates. *Why* they are bounded: bursts are part of over-admission, and 20 tokens
 * on each of ten nodes would be two seconds' worth of a quota of 100/s (docs/decisions/0004).
 *
 * @param limit units per second
 * @param pieceSize units per piece of work; 1 for messages
 * @param equalShare target ÷ N, units per second
 */
export function gateDepth(
  limit: number,
  pieceSize: number,
  equalShare: number,
  burstMs: number = GATE_DEPTH.burstMs,
): number {
  return depthWithin(limit, burstMs, pieceSize, Math.max(pieceSize, equalShare * GATE_DEPTH.boundSeconds));
}

/**
 * Computes the burst of a node's part of a group (docs/decisions/0004). A node that has reported nothing is bounded by
 * a tenth of a second of target/N. It has no noise to absorb yet, and nodes that wake together all bring full buckets.
 * Worked: ten idle nodes, target 1,000: 10 tokens each instead of 20.
 *
 * A node with a demand has up to one piece more, at most half a second of target/N. At small rates a bucket of one
 * token is full half of the time, and loses its inflow then. Worked: target 10, N = 10 → 1.5 tokens; N = 3 → 2.
 */
export function shareDepth(
  limit: number,
  { pieceSize, equalShare, hasDemand }: { pieceSize: number; equalShare: number; hasDemand: boolean },
): number {
  const { burstMs, boundSeconds, idleBoundSeconds, secondPieceSeconds } = GATE_DEPTH;
  if (!hasDemand) return depthWithin(limit, burstMs, pieceSize, Math.max(pieceSize, equalShare * idleBoundSeconds));
  const small = pieceSize + Math.min(pieceSize, equalShare * secondPieceSeconds);
  return depthWithin(limit, burstMs, pieceSize, Math.max(small, equalShare * boundSeconds));
}

function depthWithin(limit: number, burstMs: number, pieceSize: number, mostMinimum: number): number {
  return Math.max((limit * burstMs) / 1000, Math.min(GATE_DEPTH.leastPieces * pieceSize, mostMinimum));
}
