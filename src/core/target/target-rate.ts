import { HEALTHY } from './throttling-ratio.js';

/** Inputs of one lane's target. Rates per second; Infinity = no such quota. */
export interface TargetInputs {
  quotaMessages: number;
  totalCost: number;
  reservedCost: number;
  /** Assumed cost of a message until its cost is known. */
  expectedCost: number;
  /** Pieces of work with reported costs, and their costs; smoothed, of the whole cluster. */
  transactions: number;
  cost: number;
  /** Messages/s that the backends can bear; HEALTHY = no limit. */
  bearable: number;
  /** Part of the desired rate that backends never take away. */
  minimumRatio: number;
}

/** Names the ceiling (or floor) that the target is equal to. */
export type Binding = 'unlimited' | 'messages' | 'cost' | 'limiting' | 'minimum' | 'reserved';

/** Every number on the way, in messages/s (`averageCost` in units per message). Infinity = none. */
export interface TargetDecision {
  averageCost: number;
  reserved: number;
  desired: number;
  limiting: number;
  minimum: number;
  target: number;
  binding: Binding;
  /** True = the backends hold the group down, not its quota. */
  isBusy: boolean;
}

export function createDecision(): TargetDecision {
  const rates = { averageCost: 0, reserved: 0, desired: 0, limiting: HEALTHY, minimum: 0, target: 0 };
  return { binding: 'unlimited', isBusy: false, ...rates };
}

/**
 * Decides the cluster rate in force (as FoundationDB's global tag throttling). Work is admitted by count and accounted
 * by cost, so cost quotas become messages/s by the average cost:
 *
 *     averageCost = max(min(1, expected), cost / transactions)         expected where nothing was reported
 *     desired     = min(quota, total / averageCost)                    reserved = min(desired, reserved / averageCost)
 *     limiting    = max(minimum, bearable),  minimum = minimumRatio · desired
 *     target      = max(reserved, min(desired, limiting))
 *
 * *Worked:* total 100, 6 units each → desired 16.67; the backends bear 8.33 → 8.33; with 70 reserved → 11.67; they bear
 * nothing → 0.1 % of 16.67 = 0.0167, so that the group is still seen.
 *
 * *Why:* reads and writes share one quota. Since PR #8320 FoundationDB charges both to one cost, weighted, and its
 * reserved = max, desired = min of the two are left-overs. FoundationDB gives every client at least 1/s, which turns
 * 100/s into 200/s with 200 clients; here the sum of all minima is a part of the quota.
 */
export function decideTarget(inputs: TargetInputs, out: TargetDecision): void {
  const { quotaMessages, totalCost, reservedCost, expectedCost, transactions, cost } = inputs;
  const average = transactions > 0 && cost > 0 ? cost / transactions : expectedCost;
  out.averageCost = Math.max(Math.min(1, expectedCost), average);
  const byCost = totalCost / out.averageCost;
  out.desired = Math.min(quotaMessages, byCost);
  out.reserved = Math.min(out.desired, reservedCost / out.averageCost);
  out.minimum = out.desired === Infinity ? 0 : inputs.minimumRatio * out.desired;
  out.limiting = Math.max(out.minimum, inputs.bearable);
  out.target = targetRate(out.desired, out.limiting, out.reserved);
  out.isBusy = out.limiting < out.desired;
  out.binding = bindingOf(out, byCost < quotaMessages, inputs.bearable);
}

/** Computes max(reserved, min(desired, limiting)). Infinity = unlimited, 0 = blocked. */
export function targetRate(desired: number, limiting: number, reserved: number): number {
  return Math.max(reserved, Math.min(desired, limiting));
}

function bindingOf(decision: TargetDecision, costIsTighter: boolean, bearable: number): Binding {
  const { target, limiting, reserved, desired } = decision;
  if (target === Infinity) return 'unlimited';
  if (!decision.isBusy) return costIsTighter ? 'cost' : 'messages';
  if (reserved > limiting) return 'reserved';
  return limiting === bearable || desired === 0 ? 'limiting' : 'minimum';
}
