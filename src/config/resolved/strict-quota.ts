import { clusterDepth } from '../../core/account/cluster-depth.js';
import { depthGiven } from '../../core/base/settings.js';
import { type Direction, directionIndex, MESSAGES } from '../../core/base/vocabulary.js';
import { countOf } from '../../core/strict/budget-units.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import { SECONDS_OF } from '../setting/quantity.js';
import { givenRate, type WrittenRate } from '../setting/written-rate.js';
import type { GroupConfig } from './resolved-config.js';

/** Milliseconds in which a strict quota is a whole number: a week, so that 5 a day and 5 a week are exact. */
const PER_MS = 1000 * SECONDS_OF.week;
/** Messages of the deepest bucket. More: sums of its units would leave the exact integers. */
export const STRICT_DEPTH_MAX = 10_000_000;
/** Part of a quota that its whole number is at least. */
export const STRICT_EXACT_PART = 0.999;

/** Tests if a strict bucket keeps a direction of a group; without a quota nothing limits it. */
export function isStrictLane({ promise, enabled, quota }: GroupConfig, direction: Direction): boolean {
  return promise === 'strict' && enabled && (quota[direction][MESSAGES] as number) < Infinity;
}

/** Tests if a strict bucket keeps any direction. */
export function isStrictGroup(group: GroupConfig): boolean {
  return isStrictLane(group, 'publish') || isStrictLane(group, 'dispatch');
}

/** Returns the slots of a group as a strict bucket without inflow; null = it limits no concurrency. */
export function slotsQuotaOf({ concurrency }: GroupConfig): StrictQuota | null {
  return concurrency === null ? null : { amount: 0, perMs: 1, depth: concurrency, slots: true };
}

/** Returns the budget of a group as a strict bucket without inflow; null = it has none. */
export function budgetQuotaOf({ budget }: GroupConfig): StrictQuota | null {
  return budget === null ? null : { amount: 0, perMs: 1, depth: countOf(budget.unit, budget.amount), budget: true };
}

/** Computes a rate in messages a week: exactly, and in whole numbers, never more. */
export function strictAmount({ amount, per }: WrittenRate) {
  const exact = (amount * SECONDS_OF.week) / SECONDS_OF[per];
  // A rounded division is no fraction: 0.7/s are 423,360 a week.
  const near = Math.round(exact);
  return { exact, amount: Math.abs(exact - near) < 1e-6 * Math.max(1, near) ? near : Math.floor(exact) };
}

/** Returns the quota of a strict lane; its depth is that of a relaxed bucket, in whole messages. */
export function strictQuotaOf(group: GroupConfig, direction: Direction): StrictQuota {
  // Without a mistake a strict lane has a rate.
  const rate = givenRate(group.asWritten.quota[direction], 'messages') as WrittenRate;
  const given = depthGiven(group.burst, directionIndex(direction), MESSAGES);
  const depth = given ?? clusterDepth(group.quota[direction][MESSAGES] as number, 1);
  const whole = Math.max(1, Math.min(STRICT_DEPTH_MAX, Math.floor(depth)));
  return { amount: strictAmount(rate).amount, perMs: PER_MS, depth: whole };
}
