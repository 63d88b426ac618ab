import {
  GATE_BOUND_SECONDS,
  GATE_BURST_MS,
  GATE_PIECES,
  IDLE_BOUND_SECONDS,
  SECOND_PIECE_SECONDS,
} from './constants.js';

/**
 * Computes the depth of a bucket in units:
 *
 *     max(burstMs of the limit, min(GATE_PIECES pieces of work, max(one piece, GATE_BOUND_SECONDS of target/N)))
 *
 * The pieces are for the noise of small rates. *Why* they are bounded: bursts are part of over-admission, and 20 tokens
 * on each of ten nodes would be two seconds' worth of a quota of 100/s (docs/decisions/0156).
 *
 * @param limit units per second
 * @param pieceSize units per piece of work; 1 for messages
 * @param equalShare target ÷ N, units per second
 */
export function gateDepth(
  limit: number,
  pieceSize: number,
  equalShare: number,
  burstMs: number = GATE_BURST_MS,
): number {
  return depthWithin(limit, burstMs, pieceSize, Math.max(pieceSize, equalShare * GATE_BOUND_SECONDS));
}

/**
 * Computes the burst of a node's part of a group (docs/decisions/0156). A node that has reported nothing is bounded by
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
  if (!hasDemand) {
    return depthWithin(limit, GATE_BURST_MS, pieceSize, Math.max(pieceSize, equalShare * IDLE_BOUND_SECONDS));
  }
  const small = pieceSize + Math.min(pieceSize, equalShare * SECOND_PIECE_SECONDS);
  return depthWithin(limit, GATE_BURST_MS, pieceSize, Math.max(small, equalShare * GATE_BOUND_SECONDS));
}

function depthWithin(limit: number, burstMs: number, pieceSize: number, mostMinimum: number): number {
  return Math.max((limit * burstMs) / 1000, Math.min(GATE_PIECES * pieceSize, mostMinimum));
}
