import type { BurstSettings } from '../base/settings.js';
import { DIMENSIONS, DIRECTIONS, type Dimension, type Direction } from '../base/vocabulary.js';

/** The depth that is configured for one dimension of a lane, units; null = none is. */
export function depthGiven(burst: BurstSettings, direction: number, dimension: number): number | null {
  const [side, unit] = [DIRECTIONS[direction] as Direction, DIMENSIONS[dimension] as Dimension];
  return burst[unit] ?? burst.ofQuota?.[side][unit] ?? null;
}

/**
 * The depth of a lane's bucket in the cluster where none is configured, units: the most of 100 ms of the target, three
 * standard deviations of a second's arrivals, and ten pieces of work; at most one second, or ten pieces where that is
 * more.
 *
 * Worked: 1,000/s of messages → 100. 100/s → 30. 10/s → 10. 5/s → 10.
 *
 * @param piece units of a piece of work; 1 for messages
 */
export function clusterDepth(perSecond: number, piece: number): number {
  const wanted = Math.max(0.1 * perSecond, 3 * Math.sqrt(perSecond * piece), 10 * piece);
  return Math.min(wanted, Math.max(perSecond, 10 * piece));
}

/** What a bucket's depth follows from, beside its target. */
export interface DepthRule {
  readonly burst: BurstSettings;
  readonly direction: number;
}
