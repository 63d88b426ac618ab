import { correctedRate } from '../../core/account/cluster-bucket.js';
import type { LaneState } from '../../core/account/lanes/lane-state.js';
import type { SlotTokens } from '../../core/account/slot-tokens.js';
import { BYTES, MESSAGES } from '../../core/base/vocabulary.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import { type BucketSeen, bucketSeen } from '../../core/machine/bucket-seen.js';
import type { ClusterBucketStatus, DirectionStatus } from '../api/node-status.js';
import type { StatusParts } from './status-parts.js';

/** Describes the cluster's buckets of a lane; null = nodes have gates, or it is not served here. */
export function describeTokens(parts: StatusParts, lane: number): DirectionStatus['clusterBucket'] {
  const { coordinator } = parts.loop;
  const state = coordinator?.lanes.get(lane);
  if (coordinator === null || !state?.tokens) return null;
  const nowMs = parts.clock();
  const describe = (dimension: number) => {
    const now = bucketSeen(coordinator, lane, dimension, nowMs);
    if (now === null) return null;
    const rate = correctedRate(now.bucket, now.tokens);
    return { ...describeSlot(parts.limiter, state, dimension, { tokens: now.tokens, rate }, nowMs), ...now.seen };
  };
  return { messages: describe(MESSAGES), bytes: describe(BYTES) };
}

function describeSlot(
  limiter: Limiter,
  { lane, tokens: laneTokens }: LaneState,
  dimension: number,
  { tokens, rate }: { readonly tokens: number; readonly rate: number },
  nowMs: number,
): Omit<ClusterBucketStatus, keyof BucketSeen> {
  const slot = laneTokens?.slots[dimension] as SlotTokens;
  const { expected, account, isInPieces, piece, comesBackPerSecond } = slot;
  // The limiter gives from the cluster's bucket, or cut off from the share.
  const here = limiter.available(lane, dimension, nowMs) - limiter.buckets.debt(lane, dimension, nowMs);
  const missing = piece - (isInPieces ? Math.min(here, tokens) : here);
  return {
    expectedPerSecond: Math.min(expected.served, rate),
    ownExpectedPerSecond: expected.ownAt(rate),
    unheard: account.unheard,
    takeable: here,
    passesInMs: here >= piece || comesBackPerSecond <= 0 ? 0 : Math.ceil((1000 * missing) / comesBackPerSecond),
    inPieces: isInPieces,
    throttled: expected.isThrottled,
  };
}
