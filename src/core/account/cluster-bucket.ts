import { decay } from '../base/decay.js';
import { PULL_SECONDS, SET_POINT_RATIO, TOGETHER_DEPTHS } from './constants.js';

/**
 * A lane's bucket in the whole cluster, in one dimension. No node holds it: every node computes its tokens from the
 * log, and all that have read the same prefix compute the same.
 */
export interface ClusterBucket {
  /** The target in force, units per second, finite and > 0. */
  readonly perSecond: number;
  /** Units, > 0. */
  readonly depth: number;
  /** Units of a piece × nodes, in pieces: each node may take one unread. */
  readonly pieceOfEach?: number;
}

/**
 * Computes the bucket's tokens after a time without records. The cluster takes its expected use, at most the corrected
 * rate:
 *
 *     d tokens/dt = rate − min(expected, correctedRate(tokens)),   tokens ≤ depth
 *
 * That is a line, a curve towards the set point, and a line again, each solved exactly; so a gap of any length takes
 * the same time. The bucket never fills faster than at the target's rate, however deep the debt is: otherwise the
 * tokens that pay a debt back would be given out twice.
 *
 * Worked (rate 1,000, depth 100, set point 35): nothing expected, 0 tokens → 100 after 100 ms or more. 1,000 expected,
 * 35 tokens → 35 for ever. 1,500 expected, 100 tokens → towards 35 at once, and 1 s later 35 + 65·e^(−1) = 58.9.
 *
 * @param tokens may be negative: a debt
 * @param expectedPerSecond units per second that all nodes together would take if only this bucket held them
 */
export function tokensAfter(bucket: ClusterBucket, tokens: number, ms: number, expectedPerSecond: number): number {
  if (!(ms > 0)) return tokens;
  const { perSecond, depth } = bucket;
  const setPoint = setPointOf(bucket);
  let seconds = ms / 1000;
  let now = tokens;
  const nothing = nothingBelow(bucket);
  if (now < nothing) {
    const untilSeconds = (nothing - now) / perSecond;
    if (seconds <= untilSeconds) return now + perSecond * seconds;
    now = nothing;
    seconds -= untilSeconds;
  }
  const surplus = perSecond - expectedPerSecond;
  // Below this number of tokens the corrected rate is less than the expected use, and all together take that rate.
  const throttled = setPoint - surplus * PULL_SECONDS;
  if (now > throttled) {
    if (surplus >= 0) return Math.min(depth, now + surplus * seconds);
    const untilSeconds = (now - throttled) / -surplus;
    if (seconds <= untilSeconds) return now + surplus * seconds;
    now = throttled;
    seconds -= untilSeconds;
  }
  const after = setPoint + (now - setPoint) * decay(seconds / PULL_SECONDS);
  if (surplus <= 0 || after <= throttled) return Math.min(depth, after);
  const untilSeconds = PULL_SECONDS * lengthOfDecay((throttled - setPoint) / (now - setPoint));
  return Math.min(depth, throttled + surplus * (seconds - untilSeconds));
}

/**
 * The rate, units per second, that the cluster gets at this stock: more than the target above the set point and less
 * below it, so that the bucket returns to the set point.
 */
export function correctedRate(bucket: ClusterBucket, tokens: number): number {
  return Math.max(0, bucket.perSecond + (tokens - setPointOf(bucket)) / PULL_SECONDS);
}

/** Units of debt that a record may make: a second of the target, or the most that honest nodes take unread. */
export function debtMaxOf({ perSecond, depth, pieceOfEach = 0 }: ClusterBucket): number {
  return Math.max(perSecond, (TOGETHER_DEPTHS + 1) * depth, pieceOfEach);
}

/** Tokens below which no node gets any: all inflow pays the debt back. */
export function nothingBelow(bucket: ClusterBucket): number {
  return setPointOf(bucket) - bucket.perSecond * PULL_SECONDS;
}

/**
 * The tokens that a busy bucket returns to. Above them the noise of all nodes is paid; below them only met nodes may
 * take tokens, because a common bucket without this bound is used up by the node that wants the most.
 *
 * It is at most what one time constant of the target brings. With more, an empty bucket would give nothing until the
 * rest has come in: 20 s for 10/s and a depth of 600.
 */
export function setPointOf({ perSecond, depth }: ClusterBucket): number {
  return Math.min(SET_POINT_RATIO * depth, perSecond * PULL_SECONDS);
}

/**
 * Tests if the bucket fills more slowly than one can wait. Then work larger than what a node may take at once is
 * admitted by its tokens. In others, which such work keeps from ever being full, it is admitted as soon as the node has
 * left unused all that it may take.
 *
 * *Worked:* 1,200,000 per minute, as deep, 50,000 left: work of 60,000 waits for half a second, not for a full bucket.
 */
export function isSlow(bucket: ClusterBucket): boolean {
  return setPointOf(bucket) < SET_POINT_RATIO * bucket.depth;
}

/**
 * Finds x with e^(−x) = rest, for 0 < rest ≤ 1. Newton's method from the left never passes the solution, because e^(−x)
 * is convex; it ends where the digits do. It uses `decay`, so that machines agree bit for bit, which Math.log does not
 * promise.
 */
function lengthOfDecay(rest: number): number {
  let x = 0;
  for (let step = 0; step < 64; step++) {
    const more = 1 - rest / decay(x);
    if (!(more > 1e-12)) return x;
    x += more;
  }
  return x;
}
