import { decay } from '../base/decay.js';
import { APPROACH_STEP_MS, ARRIVED_RATIO } from './constants.js';
import { floorPerWeight } from './floors.js';
import { forEachLimited, type LaneView, type Strategy, sum } from './strategy.js';

/**
 * Wraps a strategy: applied shares approach its shares exponentially (FoundationDB smooths its rates with 10 s).
 *
 *     shareᵢ = strategyᵢ + (appliedᵢ − strategyᵢ) · e^(−age / smoothingMs)
 *
 * applied and its age, in log time, come from the node's record. Two steps of half the age equal one step of the whole
 * age, so the number of reports on the way does not matter. One step counts at most 250 ms, which bounds the jump of a
 * node that was at rest. *Worked:* applied 100, strategy 200, smoothingMs 1000 → 122 after a quarter of a second, and
 * from report to report 163 after one second, 186 after two, 195 after three.
 *
 * Falling shares may still hold what rising ones need. Where Σ shares would exceed the target (and the strategy's Σ),
 * all shares above the strategy's fall faster by one factor. *Worked:* target 100, applied 100 and none, strategy
 * 50/50, age 0 → 50/50.
 *
 * Silent cases, our choice: a node without a known applied share (its first report, or its limit was lifted) starts at
 * the strategy's share; closer than 1 % has arrived, so that it comes to rest.
 */
export function smoothed(strategy: Strategy, smoothingMs: number): Strategy {
  return remembering(strategy, (view, dimension) => smooth(view, dimension, smoothingMs));
}

/** Wraps a strategy whose shares are approached from the applied ones. */
export function remembering(strategy: Strategy, hold: (view: LaneView, dimension: number) => void): Strategy {
  return {
    ...strategy,
    remembers: true,
    converge(view) {
      strategy.converge(view);
      forEachLimited(view, hold);
    },
  };
}

/**
 * Returns the counted log time since the node's record, milliseconds. A record may be old because its node was at rest,
 * and then its age is not time on the way.
 */
export function creditMs(view: LaneView, at: number): number {
  return Math.min(APPROACH_STEP_MS, view.ageMs[at]);
}

/** Scratch: the strategy's shares. */
let goal = new Float64Array(64);

function smooth(view: LaneView, dimension: number, smoothingMs: number): void {
  const { count } = view;
  if (goal.length < count) goal = new Float64Array(count * 2);
  const share = view.share[dimension];
  goal.set(share.subarray(0, count));
  const perWeight = floorPerWeight(view, dimension);
  for (let at = 0; at < count; at++) {
    const end = goal[at];
    const start = startOf(view, dimension, at, end, perWeight);
    const now = end + (start - end) * decay(creditMs(view, at) / smoothingMs);
    if (Math.abs(now - end) <= ARRIVED_RATIO * end) continue;
    share[at] = now;
    view.moving[at] = 1;
  }
  bound(share, count, Math.max(view.target[dimension], sum(goal, count)));
}

/** Finds the start of a share: at least the floor, at most the target. */
export function startOf(view: LaneView, dimension: number, at: number, end: number, floorPerWeight: number): number {
  const applied = view.applied[dimension][at];
  if (applied === 0) return end;
  const floor = floorPerWeight * view.weight[at];
  return Math.min(Math.max(applied, Math.min(end, floor)), Math.max(end, view.target[dimension]));
}

/** Takes the excess over `most` from those above their goal. */
function bound(share: Float64Array, count: number, most: number): void {
  const excess = sum(share, count) - most;
  if (excess <= 0) return;
  let above = 0;
  for (let at = 0; at < count; at++) above += Math.max(0, share[at] - goal[at]);
  const keep = above > excess ? 1 - excess / above : 0;
  for (let at = 0; at < count; at++) {
    const over = share[at] - goal[at];
    if (over > 0) share[at] = goal[at] + over * keep;
  }
}
