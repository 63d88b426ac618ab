import type { ClusterBucketStatus, DirectionStatus } from '../api/node-status.js';
import { BYTES, MESSAGES } from '../core/base/vocabulary.js';
import { type BucketNow, bucketNow } from '../core/coordinator/bucket-now.js';
import type { Coordinator } from '../core/coordinator/coordinator.js';
import type { LaneState } from '../core/lanes/lane-state.js';
import type { Limiter } from '../core/limiter/limiter.js';
import { correctedRate, setPointOf } from '../core/tokens/cluster-bucket.js';
import type { SlotTokens } from '../core/tokens/slot-tokens.js';
import type { StatusParts } from './status-parts.js';

/** The cluster's buckets of a lane; null where rates are shared, and where this node does not serve the lane. */
export function describeTokens(parts: StatusParts, lane: number): DirectionStatus['clusterBucket'] {
  const { coordinator } = parts.loop;
  const state = coordinator?.lanes.get(lane);
  if (coordinator === null || !state?.tokens?.isShared) return null;
  const nowMs = parts.clock();
  const describe = (dimension: number) => {
    const now = bucketNow(coordinator, lane, dimension, nowMs);
    if (now === null) return null;
    return {
      ...describeSlot(parts.limiter, state, dimension, now, nowMs),
      charged: chargedBy(coordinator, state.mapLane, dimension),
    };
  };
  return { messages: describe(MESSAGES), bytes: describe(BYTES) };
}

function describeSlot(
  limiter: Limiter,
  { lane, tokens: laneTokens }: LaneState,
  dimension: number,
  { bucket, tokens }: BucketNow,
  nowMs: number,
): Omit<ClusterBucketStatus, 'charged'> {
  const slot = laneTokens?.slots[dimension] as SlotTokens;
  const { expected, account, isInPieces, piece, comesBackPerSecond } = slot;
  // The limiter gives from the cluster's bucket, or from the share while the node is cut off.
  const here = limiter.available(lane, dimension, nowMs) - limiter.buckets.debt(lane, dimension, nowMs);
  const rate = correctedRate(bucket, tokens);
  const missing = piece - (isInPieces ? Math.min(here, tokens) : here);
  return {
    tokens,
    depth: bucket.depth,
    setPoint: setPointOf(bucket),
    correctionPerSecond: rate - bucket.perSecond,
    expectedPerSecond: Math.min(expected.served, rate),
    ownExpectedPerSecond: expected.ownAt(rate),
    unheard: account.unheard,
    takeable: here,
    passesInMs: here >= piece || comesBackPerSecond <= 0 ? 0 : Math.ceil((1000 * missing) / comesBackPerSecond),
    inPieces: isInPieces,
    throttled: expected.isThrottled,
  };
}

function chargedBy({ membership, usageMap }: Coordinator, mapLane: number, dimension: number) {
  const { rows } = usageMap;
  const charged: { readonly nodeId: string; readonly units: number }[] = [];
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const { nodeId } = membership.inSlot(rows.memberOf(row));
    charged.push({ nodeId, units: rows.chargesOf(row)[dimension] as number });
  }
  return charged.sort((one, other) => other.units - one.units);
}
