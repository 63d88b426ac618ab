import { CHANCE_DEVIATIONS } from '../report/constants/constants.js';
import { type ClusterBucket, setPointOf } from './cluster-bucket.js';
import {
  ADVANCE_DEPTHS,
  BY_USE_RATIO,
  NEARLY_ALL_RATIO,
  PULL_SECONDS,
  TOGETHER_DEPTHS,
  UNREAD_NOISE_SECONDS,
} from './constants.js';
import type { ExpectedUse } from './expected-use.js';

/**
 * Bounds the units that this node may take at once:
 *
 *     nearly full, and half of the target is not wanted
 *                     min(1, 2/(N − 1)) of it: nodes that wake within one delivery take three depths at most. Where
 *                     that is less than a piece, a node with much of the expected use may have the whole piece
 *     above the set point   a fifth in equal parts, the rest by expected use; a throttled node at least by its share
 *                           among the throttled, because the others' demands are met; and 1/N while more than a
 *                           second of the target is above
 *     below the set point   nothing if the node is throttled, else its own noise: a common bucket that the throttled
 *                           may empty leaves nothing to the others
 *
 * Worked: depth 100, three nodes, 100 tokens, nobody expected to take anything → 100 each. Ten nodes → 22 each. 1,000
 * nodes of which one is expected to take 20/s: 1 for that one, not 0.2.
 *
 * @param use with the expected units per second of all (`used`) and of this node (`ownUse`)
 */
export function fromCluster(bucket: ClusterBucket, tokens: number, nodes: number, use: Use): number {
  const { expected, used, ownUse, piece, isDivided } = use;
  if (tokens >= NEARLY_ALL_RATIO * bucket.depth && used < bucket.perSecond / 2) {
    const whole = wholeOf(nodes, isDivided) * tokens;
    if (whole >= piece || nodes <= TOGETHER_DEPTHS || used === 0) return whole;
    const forAll = (1 - BY_USE_RATIO / (isDivided ? 1 : ADVANCE_DEPTHS)) * whole;
    return Math.max(forAll, Math.min(piece, (BY_USE_RATIO * ownUse * tokens) / used));
  }
  if (expected.total === 0) return expected.part * Math.max(0, tokens);
  const setPoint = setPointOf(bucket);
  const above = Math.max(0, tokens - setPoint);
  // No use is expected where the correction gives none; then nothing is above the set point either.
  const byUse = above > 0 ? ((1 - BY_USE_RATIO) / nodes + (BY_USE_RATIO * ownUse) / used) * above : 0;
  const ofAbove = isDeep(bucket, tokens) ? Math.max(above / nodes, byUse) : byUse;
  if (expected.isThrottled) return Math.max(ofAbove, expected.partOfThrottled * above);
  const below = Math.max(0, Math.min(tokens, setPoint));
  return Math.min(below, Math.max(expected.part * tokens, noiseOf(ownUse, piece))) + ofAbove;
}

/**
 * Tests if a second's inflow is above the set point. The bucket is there for bursts then, as full ones are: past use
 * does not show the next burst (docs/decisions/0177).
 *
 * *Worked:* 521 of 600 per minute are left, and one node published 15/s. By use it would be given 510, and two others
 * 44 each, too few for a client's 150 requests of a second dealt at random.
 */
export function isDeep(bucket: ClusterBucket, tokens: number): boolean {
  return tokens >= setPointOf(bucket) + PULL_SECONDS * bucket.perSecond;
}

/**
 * Computes an *advance*: the part of a full bucket that a node may take unread. Its use of a silent key counts.
 *
 *     N · 2/(N − 1), all at once  +  1 − 2/(N − 1), the first to read its own record back  =  three depths
 *
 * *Worked:* three nodes, all of it each. Ten, 2/9 each, and the first that reads its record back the other 7/9.
 */
export function wholeOf(nodes: number, isDivided: boolean): number {
  return isDivided ? 1 / nodes : Math.min(1, ADVANCE_DEPTHS / Math.max(1, nodes - 1));
}

/** Units that a met node's noise may take unread. */
export function noiseOf(ownUse: number, piece: number): number {
  return piece + CHANCE_DEVIATIONS * Math.sqrt(UNREAD_NOISE_SECONDS * ownUse * piece);
}

export interface Use {
  readonly expected: ExpectedUse;
  readonly used: number;
  readonly ownUse: number;
  readonly piece: number;
  /** True: a full bucket is divided into N parts, without an advance. */
  readonly isDivided: boolean;
}
