import { DIMENSION_COUNT } from '../base/vocabulary.js';
import type { LaneView } from '../convergence/strategy.js';

/**
 * What a relaxed node's limiter may take above its share, so that noise in its own arrivals is not refused:
 *
 *     wanted = max(0, (1 + ratio) · demand − share)      for nodes whose demand is met in every dimension, else 0
 *     allowance = wanted · min(1, ratio · target / Σ wanted)
 *
 * Worked (ratio 0.25): target 1,000, shares 960/20/20 for demands 2,000/20/20 → allowances 0/5/5. It is not charged to
 * anybody: arrivals average to the demand that *is* charged. Σ allowances ≤ ratio · target.
 *
 * @returns units per second for the participant `own`; 0 where the dimension is unlimited or blocked
 */
export function allowanceOf(view: LaneView, own: number, dimension: number, ratio: number): number {
  const target = view.target[dimension] as number;
  if (target === Number.POSITIVE_INFINITY || target === 0 || ratio === 0) return 0;
  const ownWanted = wantedBy(view, own, dimension, ratio);
  if (ownWanted === 0) return 0;
  let total = 0;
  for (let at = 0; at < view.count; at++) total += wantedBy(view, at, dimension, ratio);
  return ownWanted * Math.min(1, (ratio * target) / total);
}

function wantedBy(view: LaneView, at: number, dimension: number, ratio: number): number {
  for (let every = 0; every < DIMENSION_COUNT; every++) {
    const demand = (view.demand[every] as Float64Array)[at] as number;
    if (((view.share[every] as Float64Array)[at] as number) < demand * (1 - MET)) return 0;
  }
  const demand = (view.demand[dimension] as Float64Array)[at] as number;
  return Math.max(0, (1 + ratio) * demand - ((view.share[dimension] as Float64Array)[at] as number));
}

/** A demand that is short by less than this part counts as met, because sums are rounded. */
const MET = 1e-9;
