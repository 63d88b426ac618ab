import { type ClusterBucket, setPointOf, TOGETHER } from './cluster-bucket.js';
import type { ExpectedUse } from './expected-use.js';

/**
 * Bounds what this node may take of the cluster's bucket at once:
 *
 *     while the bucket is nearly full and half of the target is not wanted
 *                     min(1, 2/(N − 1)) of it: nodes that wake within one delivery take three depths at most. Where
 *                     that is less than a piece, a node with much of the expected use may have the whole piece
 *     above the set point   a fifth in equal parts, the rest by expected use; a throttled node at least by its share
 *                           among the throttled, because the others have all that they want; and 1/N while more than a
 *                           second of the target is there
 *     below the set point   nothing if the node is throttled, else what its own noise takes: a common bucket that the
 *                           throttled may empty leaves nothing to the others (Jain 0.44 instead of 0.999), and when
 *                           each of the others might take all of it, a spike at ten nodes was 3.5 % too much in 5 s
 *
 * Worked: depth 100, three nodes, 100 tokens, nobody expected to take anything → 100 each. Ten nodes → 22 each. 1,000
 * nodes of which one is expected to take 20/s: 1 for that one, not 0.3.
 *
 * @param used what all are expected to take now, units per second
 * @param ownUse what this node is
 * @param piece units of a piece of work
 */
export function fromCluster(bucket: ClusterBucket, tokens: number, nodes: number, use: Use): number {
  const { expected, used, ownUse, piece, isDivided } = use;
  if (tokens >= NEARLY_FULL * bucket.depth && used < bucket.perSecond / 2) {
    const whole = wholeOf(nodes, isDivided) * tokens;
    if (whole >= piece || nodes <= TOGETHER || used === 0) return whole;
    const forAll = (1 - BY_USE / (isDivided ? 1 : TOGETHER - 1)) * whole;
    return Math.max(forAll, Math.min(piece, (BY_USE * ownUse * tokens) / used));
  }
  if (expected.total === 0) return expected.part * Math.max(0, tokens);
  const setPoint = setPointOf(bucket);
  const above = Math.max(0, tokens - setPoint);
  // Nothing is used where the correction gives nothing; then nothing is above the set point either.
  const byUse = above > 0 ? ((1 - BY_USE) / nodes + (BY_USE * ownUse) / used) * above : 0;
  const ofAbove = isDeep(bucket, tokens) ? Math.max(above / nodes, byUse) : byUse;
  if (expected.isThrottled) return Math.max(ofAbove, expected.partOfThrottled * above);
  const below = Math.max(0, Math.min(tokens, setPoint));
  return Math.min(below, Math.max(expected.part * tokens, noiseOf(ownUse, piece))) + ofAbove;
}

/**
 * Checks whether a bucket holds so much above its set point that it is there for bursts, as full ones are: use so far
 * says little of who needs it next.
 *
 * *Worked:* 521 of 600 per minute are left, and one node told 15/s. By use it would be given 510, two others 44 each: a
 * client's 150 requests of a second, dealt at random, were refused at those.
 */
export function isDeep(bucket: ClusterBucket, tokens: number): boolean {
  return tokens >= setPointOf(bucket) + DEEP_SECONDS * bucket.perSecond;
}

/**
 * Computes which part of a full bucket a node may take before others know. What it took of a silent key counts.
 *
 *     N · 2/(N − 1), all at once  +  1 − 2/(N − 1), whoever reads its own record back first  =  three depths
 *
 * *Worked:* three nodes, all of it each. Ten, 2/9 each, and the first that reads its record back the other 7/9.
 */
export function wholeOf(nodes: number, isDivided: boolean): number {
  return isDivided ? 1 / nodes : Math.min(1, (TOGETHER - 1) / Math.max(1, nodes - 1));
}

/**
 * Computes what the noise of a met node takes, units: it may take so much of a busy bucket before others know of it.
 */
export function noiseOf(ownUse: number, piece: number): number {
  return piece + NOISE_DEVIATIONS * Math.sqrt(NOISE_SECONDS * ownUse * piece);
}

export interface Use {
  readonly expected: ExpectedUse;
  readonly used: number;
  readonly ownUse: number;
  readonly piece: number;
  /** True: a full bucket is divided in advance, N parts and not three depths. */
  readonly isDivided: boolean;
}

/** From this part of its depth on a bucket is there for whoever asks first. */
export const NEARLY_FULL = 0.9;
const BY_USE = 0.8;
/** With less, nodes that are always refused write more. */
const DEEP_SECONDS = 1;
const NOISE_DEVIATIONS = 3;
const NOISE_SECONDS = 0.3;
