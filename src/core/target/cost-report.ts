import type { LaneCosts } from '../base/protocol/record.js';
import type { BackendId } from '../base/vocabulary.js';
import type { CostMeter } from './cost-meter.js';
import { sumOfCosts } from './cost-meter.js';

/** The costs of a lane as they are, and as its newest record says them. Local monotonic times in milliseconds. */
export interface CostReport {
  now: LaneCosts | null;
  reported: LaneCosts | null;
  lookedMs: number;
  reportedMs: number;
}

export function createCostReport(): CostReport {
  return { now: null, reported: null, lookedMs: -Infinity, reportedMs: -Infinity };
}

/** Costs are smoothed, so looking more often shows nothing new. */
const LOOK_MS = 250;
/** A change that is too small to be told at once is told within this time, … */
const PATIENCE_MS = 5000;
/**
 * … or within this shorter time if backends hold the group down, because its limit is then its own rate times what they
 * can bear, …
 */
const BUSY_PATIENCE_MS = 2000;
/** … if it is larger than this part. */
const SMALL_RATIO = 0.01;
/** Told at once: 5 %, or two standard deviations of a rate that is smoothed over half of `smoothingMs`. */
const LARGE_RATIO = 0.05;
const NOISE_FACTOR = 2;

/** A part of lane-state.ts. */
export interface LookedAt {
  readonly lane: number;
  readonly costs: CostReport;
  readonly isBusy: boolean;
}

/**
 * Looks at a lane's costs; returns whether its record has to be written again.
 *
 * Pieces of work at random times (Poisson), rate ρ, smoothed with τ: the standard deviation is √(ρ / 2τ), so the
 * threshold is max(5 %, 2 / √(2τρ)). Worked, τ = 5 s: at 10/s 20 %, at 100/s 6.3 %, at 160/s and more 5 %.
 */
export function lookAtCosts({ costs: report, lane, isBusy }: LookedAt, meter: CostMeter, nowMs: number): boolean {
  if (nowMs - report.lookedMs < LOOK_MS) return false;
  report.lookedMs = nowMs;
  report.now = meter.costsOf(lane, nowMs);
  const change = changeBetween(report.reported, report.now);
  if (change <= SMALL_RATIO) return false;
  const { transactions } = report.now ?? report.reported!;
  const noise = NOISE_FACTOR / Math.sqrt((meter.smoothingMs / 1000) * transactions);
  return (
    change > Math.max(LARGE_RATIO, noise) || nowMs - report.reportedMs >= (isBusy ? BUSY_PATIENCE_MS : PATIENCE_MS)
  );
}

/** Called when the costs go into a record. */
export function costsWritten(report: CostReport): LaneCosts | null {
  report.reported = report.now;
  report.reportedMs = report.lookedMs;
  return report.now;
}

/** The larger of the relative changes of the rate and of the costs, each backend's by itself. */
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
