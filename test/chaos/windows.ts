import type { Allowed } from './allowed.js';
import type { Call } from './clients.js';
import { frozenSpans, type HappenedFault, isQuiet } from './happened.js';
import { lullsIn } from './lulls.js';
import { burstOf, STEADY_QUOTAS, WINDOW_MS } from './promises.js';
import { NODES } from './schedule.js';
import { GROUPS } from './workload.js';

/** One window of 5 s of one group, in messages. */
export interface ChaosWindow {
  readonly group: number;
  readonly fromMs: number;
  /** Messages that were certainly decided within the window. */
  readonly admitted: number;
  readonly allowed: number;
  /** Nothing was wrong in it, nor shortly before, and everybody was asked and answered in time: the bound is that of a settled cluster. */
  readonly isQuiet: boolean;
}

/** From the beginning of one window to that of the next, ms. */
export const SLIDE_MS = 500;
const STEP_MS = 100;

/** A granted call, with the times between which it was decided. */
interface Grant {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/**
 * Every window of a run, with what was admitted and what is allowed.
 *
 * A grant counts for a window when it was certainly decided in it: sent and answered within. Either time alone bunches what a node decided
 * evenly wherever clients, or the node, waited for a core. What a frozen node answers it has decided after it was thawed.
 */
export function windowsOf(
  calls: readonly Call[],
  happened: readonly HappenedFault[],
  allowed: Allowed,
  durationMs: number,
): ChaosWindow[] {
  const lulls = lullsIn(calls);
  const frozen = Array.from({ length: NODES }, (_, node) => frozenSpans(happened, node));
  return GROUPS.flatMap((of, group) => {
    const grants = grantsOf(calls, group, frozen);
    const sums = sumsOf(allowed, group, durationMs);
    const burst = burstOf(of, NODES);
    const windows: ChaosWindow[] = [];
    let nextLull = 0;
    for (let fromMs = 0; fromMs + WINDOW_MS <= durationMs; fromMs += SLIDE_MS) {
      const toMs = fromMs + WINDOW_MS;
      while ((lulls[nextLull]?.[1] ?? Infinity) < fromMs) nextLull++;
      const isAsked = (lulls[nextLull]?.[0] ?? Infinity) >= toMs;
      const quiet = isAsked && isQuiet(happened, fromMs, toMs);
      const most = sums[toMs / STEP_MS] - sums[fromMs / STEP_MS] + burst;
      // At a steady rate a window holds up to one piece of work more than its seconds times the rate, at every node.
      const steady = (of.quota * STEADY_QUOTAS * WINDOW_MS) / 1000 + NODES;
      const admitted = countWithin(grants, fromMs, toMs);
      windows.push({ group, fromMs, admitted, allowed: quiet ? Math.min(most, steady) : most, isQuiet: quiet });
    }
    return windows;
  });
}

export function isBroken({ admitted, allowed }: ChaosWindow): boolean {
  // Room for rounding: what is allowed is a sum of fractions.
  return admitted > allowed + 1e-6;
}

function grantsOf(
  calls: readonly Call[],
  group: number,
  frozen: readonly (readonly (readonly [number, number])[])[],
): Grant[] {
  const grants = calls
    .filter((call) => call.group === group && call.outcome === 'granted')
    .map(({ sentMs, endedMs, node }) => {
      const span = frozen[node]?.find(([fromMs, toMs]) => sentMs >= fromMs && sentMs < toMs);
      return { earliestMs: Math.min(span?.[1] ?? sentMs, endedMs), latestMs: endedMs };
    });
  return grants.sort((one, other) => one.latestMs - other.latestMs);
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

/** Allowed from the beginning up to each step, in messages. */
function sumsOf(allowed: Allowed, group: number, durationMs: number): Float64Array {
  const sums = new Float64Array(Math.ceil(durationMs / STEP_MS) + 1);
  for (let at = 1; at < sums.length; at++) {
    sums[at] = sums[at - 1] + (allowed.at(group, (at - 1) * STEP_MS) * STEP_MS) / 1000;
  }
  return sums;
}
