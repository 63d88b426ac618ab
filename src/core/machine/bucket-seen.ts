import { correctedRate, setPointOf } from '../account/cluster-bucket.js';
import { type BucketNow, bucketNow } from './bucket-now.js';
import type { Coordinator } from './coordinator.js';

/** State of a cluster's bucket for status and metrics, in units. */
export interface BucketSeen {
  readonly tokens: number;
  readonly depth: number;
  readonly setPoint: number;
  readonly correctionPerSecond: number;
  /** Charges by node, largest first; nodes without a row are missing. */
  readonly charged: readonly { readonly nodeId: string; readonly units: number }[];
}

/** Collects the state of a lane's bucket; null as in `bucketNow`. */
export function bucketSeen(
  coordinator: Coordinator,
  lane: number,
  dimension: number,
  nowMs: number,
): (BucketNow & { readonly seen: BucketSeen }) | null {
  const now = bucketNow(coordinator, lane, dimension, nowMs);
  const mapLane = coordinator.lanes.get(lane)?.mapLane;
  if (now === null || mapLane === undefined) return null;
  const { bucket, tokens } = now;
  return {
    ...now,
    seen: {
      tokens,
      depth: bucket.depth,
      setPoint: setPointOf(bucket),
      correctionPerSecond: correctedRate(bucket, tokens) - bucket.perSecond,
      charged: chargedBy(coordinator, mapLane, dimension),
    },
  };
}

function chargedBy({ membership, usageMap }: Coordinator, mapLane: number, dimension: number): BucketSeen['charged'] {
  const { rows } = usageMap;
  const charged: { readonly nodeId: string; readonly units: number }[] = [];
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const { nodeId } = membership.inSlot(rows.memberOf(row));
    charged.push({ nodeId, units: rows.chargesOf(row)[dimension] });
  }
  return charged.sort((one, other) => other.units - one.units);
}
