import type { LimitingSplit } from '../base/settings.js';
import { HEALTHY } from './throttling-ratio.js';

/** Figures of one group on one backend. Rates per second, of the whole cluster. */
export interface Contribution {
  /** `throttlingRatio`; HEALTHY = not near saturation. */
  ratio: number;
  /** Messages/s of the group on all backends. */
  transactions: number;
  /** Cost of the group, and of all groups, on this backend. */
  cost: number;
  costOfAll: number;
  /** Total cost quota of the group, and of all groups here; Infinity = none. */
  quota: number;
  quotaOfAll: number;
}

/**
 * Computes the messages/s that a backend can bear of a group.
 *
 *     by-usage  transactions · ratio                                             (FoundationDB since PR #10633)
 *     by-quota  ratio · costOfAll · quota/quotaOfAll ÷ (cost / transactions)     (as FoundationDB 7.3)
 *
 * by-usage lets every group keep its part of the work; by-quota moves towards the quotas. A group without a total cost
 * quota has no part by quota, so by-usage applies to it. *Worked:* ratio 0.8, two groups with quotas 50 and 100 that
 * each do 10/s at 6 units: by-usage 8 and 8; by-quota 0.8 · 120 = 96 units, a third and two thirds: 5.33 and 10.67.
 */
export function bearableRate(split: LimitingSplit, on: Contribution): number {
  if (on.ratio === HEALTHY) return HEALTHY;
  const isDivisible = on.quota !== Infinity && on.quotaOfAll > 0 && on.cost > 0;
  if (split === 'by-usage' || !isDivisible) return on.transactions * on.ratio;
  return (on.ratio * on.costOfAll * (on.quota / on.quotaOfAll) * on.transactions) / on.cost;
}
