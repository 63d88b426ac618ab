import { slotOf } from '../../core/base/vocabulary.js';
import { type BucketNow, bucketNow } from '../../core/coordinator/bucket-now.js';
import type { CoordinatorView } from '../../core/coordinator/coordinator-view.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import { restOfWindow } from '../../core/limiter/window.js';

export interface LeftParts {
  readonly limiter: Limiter;
  readonly loop: CoordinatorView;
}

/**
 * Whole units that a lane may still take at this node, ≥ 0: what its limiter would admit now. Where tokens are shared
 * that is never more than the cluster's bucket holds as far as this node knows. A client that acts upon the number is
 * not refused because another node, or nobody, may take the rest.
 */
export function unitsLeft({ limiter, loop }: LeftParts, lane: number, dimension: number, nowMs: number): number {
  if (nowMs > limiter.validUntilMs.at(lane)) return 0;
  const here = limiter.available(lane, dimension, nowMs);
  const shared = sharedBucket(loop, lane, dimension, nowMs);
  return Math.max(0, Math.floor(shared === null ? here : Math.min(here, shared.tokens)));
}

/**
 * Milliseconds until there is most left, if nobody takes anything: the cluster's bucket is full, or this node's, or the
 * next window begins. Infinity where nothing comes in.
 */
export function fullInMs({ limiter, loop }: LeftParts, lane: number, dimension: number, nowMs: number): number {
  const { buckets } = limiter;
  const slot = slotOf(lane, dimension);
  const [perSecond, depth] = [buckets.rate.at(slot), buckets.depth.at(slot)];
  if (perSecond === 0) return depth === Number.POSITIVE_INFINITY ? 0 : Number.POSITIVE_INFINITY;
  const windowMs = buckets.windowOf(lane);
  if (windowMs > 0) return restOfWindow(windowMs, nowMs);
  const here = limiter.available(lane, dimension, nowMs) - buckets.debt(lane, dimension, nowMs);
  const shared = sharedBucket(loop, lane, dimension, nowMs);
  if (shared === null) return Math.max(0, (1000 * (depth - here)) / perSecond);
  const { bucket, tokens } = shared;
  // What this node has just taken is not in the log yet.
  const missing = Math.max(bucket.depth - tokens, Math.min(depth, bucket.depth) - here);
  return Math.max(0, (1000 * missing) / bucket.perSecond);
}

/** Null where the node does not follow the cluster's bucket: it shares rates, or is cut off from the log. */
export function sharedBucket(
  { coordinator }: CoordinatorView,
  lane: number,
  dimension: number,
  nowMs: number,
): BucketNow | null {
  if (coordinator === null || coordinator.lanes.get(lane)?.isLimitedByTokens !== true) return null;
  return bucketNow(coordinator, lane, dimension, nowMs);
}
