import { floorPerWeight, liftTo } from './floors.js';
import { forEachLimited, type LaneView, nodesIn, type Strategy, sum } from './strategy.js';
import { waterFill } from './water-fill.js';

/** Bounds of one node's part of the target, 0 … 1. */
export interface ShareRange {
  readonly minShareRatio: number;
  readonly maxShareRatio: number;
  /** True = a minimum is lent while unwanted; absent = it lies idle. */
  readonly isLent?: boolean;
}

/**
 * Wraps a strategy: every share lies in [minShareRatio · target, maxShareRatio · target]. The excess over a maximum
 * goes to those that want more, the lowest first. The cost of a minimum is taken from the others in proportion to what
 * they have above theirs. The rest lies idle.
 *
 * *Worked:* target 100, max 0.5: 80/15/5 with demands 200/40/5 → 50/40/5, and 5 lie idle. Min 0.1: 90/10/0 → 80/10/10.
 *
 * Where minimums are lent, a node is lifted only to its demand within its minimum (core/account/own-parts.ts gives it
 * the rest at once): 90/10/0 that want 200/20/0 stay as they are.
 *
 * Silent cases, our choice: minimums whose sum exceeds the target are cut to target/N each. The maximum wins over a
 * minimum and over a floor. An applied share outside of the range counts as the nearer end of it, so that smoothing and
 * slew, which wrap this wrapper, start from within the range.
 */
export function clamped(strategy: Strategy, range: ShareRange): Strategy {
  const clampLane = (view: LaneView, dimension: number) => clamp(view, dimension, range);
  const clampAppliedLane = (view: LaneView, dimension: number) => clampApplied(view, dimension, range);
  return {
    ...strategy,
    converge(view) {
      forEachLimited(view, clampAppliedLane);
      strategy.converge(view);
      forEachLimited(view, clampLane);
    },
  };
}

/** Scratch, reused for every lane. */
let low = new Float64Array(64);
let high = new Float64Array(64);

function clampApplied(view: LaneView, dimension: number, range: ShareRange): void {
  const applied = view.applied[dimension];
  const { least, most } = boundsOf(view, dimension, range);
  for (let at = 0; at < view.count; at++) {
    const known = applied[at];
    if (known > 0) applied[at] = Math.min(most, Math.max(least, known));
  }
}

function clamp(view: LaneView, dimension: number, range: ShareRange): void {
  const { count } = view;
  if (low.length < count) [low, high] = [new Float64Array(count * 2), new Float64Array(count * 2)];
  const share = view.share[dimension];
  const { least, most } = boundsOf(view, dimension, range);
  const before = sum(share, count);
  const { nodes } = view;
  for (let at = 0; at < count; at++) share[at] = Math.min(most * nodes[at], share[at]);
  const cutOff = before - sum(share, count);
  for (let at = 0; at < count; at++) low[at] = least * nodes[at];
  if (range.isLent) {
    const demand = view.demand[dimension];
    const perWeight = floorPerWeight(view, dimension);
    for (let at = 0; at < count; at++) {
      low[at] = Math.min(low[at], Math.max(demand[at], perWeight * view.weight[at]));
    }
  }
  liftTo(share, low, count, before);
  if (cutOff <= 0) return;
  const demand = view.demand[dimension];
  low.set(share.subarray(0, count));
  for (let at = 0; at < count; at++) {
    high[at] = Math.max(low[at], Math.min(most * nodes[at], demand[at]));
  }
  waterFill(low, high, view.weight, count, Math.max(before, sum(low, count)), share);
}

const bounds = { least: 0, most: 0 };

function boundsOf(view: LaneView, dimension: number, range: ShareRange): typeof bounds {
  const target = view.target[dimension];
  bounds.most = range.maxShareRatio * target;
  bounds.least = Math.min(bounds.most, target * Math.min(range.minShareRatio, 1 / nodesIn(view)));
  return bounds;
}
