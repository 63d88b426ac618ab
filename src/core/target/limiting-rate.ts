import type { LimitingSplit } from '../base/settings.js';
import { HEALTHY } from './throttling-ratio.js';

/** One group on one backend. Rates per second, of the whole cluster. */
export interface Contribution {
  /** throttlingRatio, HEALTHY where the backend is not near saturation. */
  ratio: number;
  /** Messages of the group, on all backends. */
  transactions: number;
  /** Cost of the group on this backend, and of all groups on it. */
  cost: number;
  costOfAll: number;
  /** Total cost quota of the group, and the sum of those of all groups on this backend; Infinity = none. */
  quota: number;
  quotaOfAll: number;
}

/**
 * Messages/s that a backend can bear of a group.
 *
 *     by-usage  transactions · ratio                                             (FoundationDB since PR #10633)
 *     by-quota  ratio · costOfAll · quota/quotaOfAll ÷ (cost / transactions)     (as FoundationDB 7.3)
 *
 * by-usage lets every group keep its part of the work; by-quota moves towards the quotas. Worked, ratio 0.8, two groups
 * with quotas 50 and 100 that each do 10/s at 6 units: by-usage 8 and 8; by-quota 0.8 · 120 = 96 units, a third and two
 * thirds: 5.33 and 10.67. A group without a total cost quota has no part by quota, so by-usage applies to it.
 */
export function bearableRate(split: LimitingSplit, on: Contribution): number {
  if (on.ratio === HEALTHY) return HEALTHY;
  const isDivisible = on.quota !== Infinity && on.quotaOfAll > 0 && on.cost > 0;
  if (split === 'by-usage' || !isDivisible) return on.transactions * on.ratio;
  return (on.ratio * on.costOfAll * (on.quota / on.quotaOfAll) * on.transactions) / on.cost;
}
