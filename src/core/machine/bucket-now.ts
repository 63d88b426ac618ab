import type { ClusterBucket } from '../account/cluster-bucket.js';
import type { Coordinator } from './coordinator.js';

export interface BucketNow {
  readonly bucket: ClusterBucket;
  /** Tokens that this node extrapolates from the log; negative = a debt. */
  readonly tokens: number;
  readonly isInPieces: boolean;
}

/** Finds the cluster's bucket of a lane served here. Null where nodes have gates, or the quota is missing or 0. */
export function bucketNow(
  { lanes, log }: Pick<Coordinator, 'lanes' | 'log'>,
  lane: number,
  dimension: number,
  nowMs: number,
): BucketNow | null {
  const state = lanes.get(lane);
  const slot = state?.tokens?.slots[dimension];
  if (!state?.tokens || !slot || slot.bucket === null) return null;
  const tokens = state.tokens.tokensAt(dimension, log.spanNowMs(state.partition, nowMs));
  return { bucket: slot.bucket, tokens, isInPieces: slot.isInPieces };
}
