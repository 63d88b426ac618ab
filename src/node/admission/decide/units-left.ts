import { slotOf } from '../../../core/base/vocabulary.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import { restOfWindow } from '../../../core/limiter/window.js';
import { type BucketNow, bucketNow } from '../../../core/machine/bucket-now.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';

import type { StrictLanes } from '../../strict/strict-lanes.js';

export interface LeftParts {
  readonly limiter: Limiter;
  readonly loop: CoordinatorView;
  readonly strict: Pick<StrictLanes, 'get'>;
}

/**
 * Counts whole units left of a quota, ≥ 0: of the cluster's bucket by the log less this node's use since, or of its own
 * bucket. *Worked:* 100 in the bucket, 8 taken here and unpublished → 92, and 100 at another node. *Why:* by what each
 * node may take at once, a client behind a balancer saw 111, 98, 199, 98 within a second.
 */
export function unitsLeft(
  { limiter, loop, strict }: LeftParts,
  lane: number,
  dimension: number,
  nowMs: number,
): number {
  const kept = strict.get(lane);
  if (kept !== undefined) return kept.bucket.left;
  if (nowMs > limiter.validUntilMs.at(lane)) return 0;
  const shared = sharedBucket(loop, lane, dimension, nowMs);
  const here = Math.floor(limiter.available(lane, dimension, nowMs));
  if (shared === null) return here;
  // Alone, this node gives all there is.
  if (loop.coordinator?.membership.alive.length === 1) return Math.max(0, Math.min(here, Math.floor(shared.tokens)));
  return Math.max(0, Math.floor(shared.tokens - takenUnread({ limiter, loop }, lane, dimension)));
}

export function takenUnread(
  { limiter, loop }: Pick<LeftParts, 'limiter' | 'loop'>,
  lane: number,
  dimension: number,
): number {
  const state = loop.coordinator?.lanes.get(lane);
  const slot = state?.tokens?.slots[dimension];
  if (state === undefined || slot === undefined) return 0;
  const sinceFlow = limiter.taken(slotOf(lane, dimension)) - state.taken[dimension];
  return Math.max(0, slot.account.unread + Math.max(0, sinceFlow));
}

/** Returns milliseconds until most is left if nobody takes any; Infinity = nothing comes in. */
export function fullInMs({ limiter, loop, strict }: LeftParts, lane: number, dimension: number, nowMs: number): number {
  const kept = strict.get(lane);
  if (kept !== undefined) return kept.bucket.msUntilFull;
  const { buckets } = limiter;
  const slot = slotOf(lane, dimension);
  const [perSecond, depth] = [buckets.rate.at(slot), buckets.depth.at(slot)];
  if (perSecond === 0) return depth === Infinity ? 0 : Infinity;
  const windowMs = buckets.windowOf(lane);
  if (windowMs > 0) return restOfWindow(windowMs, nowMs);
  const here = limiter.available(lane, dimension, nowMs) - buckets.debt(lane, dimension, nowMs);
  const shared = sharedBucket(loop, lane, dimension, nowMs);
  if (shared === null) return Math.max(0, (1000 * (depth - here)) / perSecond);
  const { bucket, tokens } = shared;
  // The log lacks what this node has just taken.
  const missing = Math.max(bucket.depth - tokens, Math.min(depth, bucket.depth) - here);
  return Math.max(0, (1000 * missing) / bucket.perSecond);
}

/** Returns the cluster's bucket; null = the node has a gate, or is cut off from the log. */
export function sharedBucket(
  { coordinator }: CoordinatorView,
  lane: number,
  dimension: number,
  nowMs: number,
): BucketNow | null {
  if (coordinator === null || coordinator.lanes.get(lane)?.isLimitedByTokens !== true) return null;
  return bucketNow(coordinator, lane, dimension, nowMs);
}
