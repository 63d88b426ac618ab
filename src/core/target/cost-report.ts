import type { LaneCosts } from '../base/protocol/record.js';
import type { BackendId } from '../base/vocabulary.js';
import {
  BUSY_COST_PATIENCE_MS,
  COST_LOOK_MS,
  COST_NOISE_DEVIATIONS,
  COST_PATIENCE_MS,
  LARGE_COST_RATIO,
  SMALL_COST_RATIO,
} from './constants/constants.js';
import { type CostMeter, sumOfCosts } from './cost-meter.js';

/** Present costs of a lane, and those in its newest record. Local monotonic times in milliseconds. */
export interface CostReport {
  now: LaneCosts | null;
  reported: LaneCosts | null;
  lookedMs: number;
  reportedMs: number;
}

export function createCostReport(): CostReport {
  return { now: null, reported: null, lookedMs: -Infinity, reportedMs: -Infinity };
}

/** Part of lane-state.ts. */
export interface LookedAt {
  readonly lane: number;
  readonly costs: CostReport;
  readonly isBusy: boolean;
}

/**
 * Looks at a lane's costs; returns true if its record must be written.
 *
 *     threshold = max(5 %, 2 / √(2τρ)),  τ = smoothingMs / 2
 *
 * *Worked:* τ = 5 s: at 10/s 20 %, at 100/s 6.3 %, at 160/s and more 5 %.
 * *Why:* pieces of work at random times (Poisson) with rate ρ, smoothed with τ, deviate by √(ρ / 2τ).
 */
export function lookAtCosts({ costs: report, lane, isBusy }: LookedAt, meter: CostMeter, nowMs: number): boolean {
  if (nowMs - report.lookedMs < COST_LOOK_MS) return false;
  report.lookedMs = nowMs;
  report.now = meter.costsOf(lane, nowMs);
  const change = changeBetween(report.reported, report.now);
  if (change <= SMALL_COST_RATIO) return false;
  const { transactions } = report.now ?? report.reported!;
  const noise = COST_NOISE_DEVIATIONS / Math.sqrt((meter.smoothingMs / 1000) * transactions);
  return (
    change > Math.max(LARGE_COST_RATIO, noise) ||
    nowMs - report.reportedMs >= (isBusy ? BUSY_COST_PATIENCE_MS : COST_PATIENCE_MS)
  );
}

/** Notes that the costs go into a record, and returns them. */
export function costsWritten(report: CostReport): LaneCosts | null {
  report.reported = report.now;
  report.reportedMs = report.lookedMs;
  return report.now;
}

/** Returns the larger of the relative changes of rate and costs. Each backend's cost counts by itself. */
function changeBetween(before: LaneCosts | null, now: LaneCosts | null): number {
  if (before === null || now === null) return before === now ? 0 : Infinity;
  let moved = 0;
  for (const { backend, cost } of now.backends) moved += Math.abs(cost - costOn(before, backend));
  for (const { backend, cost } of before.backends) if (costOn(now, backend) === 0) moved += cost;
  const most = Math.max(sumOfCosts(before), sumOfCosts(now));
  const rates = Math.abs(now.transactions - before.transactions) / Math.max(now.transactions, before.transactions);
  return Math.max(rates, most > 0 ? moved / most : 0);
}

function costOn({ backends }: LaneCosts, backend: BackendId): number {
  for (const entry of backends) if (entry.backend === backend) return entry.cost;
  return 0;
}
