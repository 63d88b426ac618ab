import { type Allowed, inflowOf } from './allowed.js';
import type { Call } from './clients.js';
import { type Grant, grantsOf } from './grants.js';
import { type HappenedFault, isQuiet } from './happened.js';
import { lullsIn } from './lulls.js';
import { STEADY_QUOTAS, WINDOW_MS } from './promises.js';
import { NODES } from './schedule.js';
import { GROUPS, strictDepthOf } from './workload.js';

/** One window of 5 s of one group, in messages. */
export interface ChaosWindow {
  readonly group: number;
  readonly fromMs: number;
  /** Messages that were certainly decided within the window. */
  readonly admitted: number;
  /** Messages that the documents let flow in. */
  readonly inflow: number;
  /** Nothing was wrong in it, nor shortly before, and everybody was asked and answered in time: the bound of a settled cluster holds. */
  readonly isQuiet: boolean;
}

/** From the beginning of one window to that of the next, ms. */
export const SLIDE_MS = 500;

/** Returns every window of a run, with what was certainly admitted in it and what flowed in. */
export function windowsOf(
  calls: readonly Call[],
  happened: readonly HappenedFault[],
  allowed: Allowed,
  durationMs: number,
): ChaosWindow[] {
  const lulls = lullsIn(calls);
  return GROUPS.flatMap((_, group) => {
    const grants = grantsOf(calls, group, happened);
    const steps = allowed.steps(group, durationMs);
    const windows: ChaosWindow[] = [];
    let nextLull = 0;
    for (let fromMs = 0; fromMs + WINDOW_MS <= durationMs; fromMs += SLIDE_MS) {
      const toMs = fromMs + WINDOW_MS;
      while ((lulls[nextLull]?.[1] ?? Infinity) < fromMs) nextLull++;
      const isAsked = (lulls[nextLull]?.[0] ?? Infinity) >= toMs;
      const admitted = countWithin(grants, fromMs, toMs);
      const inflow = inflowOf(steps, fromMs, toMs);
      windows.push({ group, fromMs, admitted, inflow, isQuiet: isAsked && isQuiet(happened, fromMs, toMs) });
    }
    return windows;
  });
}

/** Returns the most of a settled cluster: a window holds up to a piece of work per node more than a steady rate brings. */
export function settledMost(group: number): number {
  const of = GROUPS[group];
  if (of.isStrict) return (of.quota * WINDOW_MS) / 1000 + strictDepthOf(of);
  return (of.quota * STEADY_QUOTAS * WINDOW_MS) / 1000 + NODES;
}

export function isBroken({ group, admitted, isQuiet }: ChaosWindow): boolean {
  return isQuiet && admitted > settledMost(group);
}

function countWithin(grants: readonly Grant[], fromMs: number, toMs: number): number {
  let count = 0;
  for (let at = firstFrom(grants, fromMs); at < grants.length; at++) {
    const grant = grants[at];
    if (grant.latestMs >= toMs) break;
    if (grant.earliestMs >= fromMs) count++;
  }
  return count;
}

/** First grant that was answered at or after this time. */
function firstFrom(grants: readonly Grant[], fromMs: number): number {
  let low = 0;
  let high = grants.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (grants[middle].latestMs < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
