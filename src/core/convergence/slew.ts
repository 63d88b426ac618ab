import { ARRIVED_RATIO } from './constants.js';
import { floorPerWeight } from './floors.js';
import { creditMs, remembering, startOf } from './smoothing.js';
import type { LaneView, Strategy } from './strategy.js';

/**
 * Wraps a strategy: no share rises faster than `slewPerSecond`. Decreases are immediate.
 *
 *     shareᵢ = min(strategyᵢ, appliedᵢ + slewPerSecond · target · age)
 *
 * One step counts at most 250 ms (see smoothing). *Worked:* target 1,000, slewPerSecond 0.1, applied 200, strategy 900
 * → 225 a quarter of a second later, and from report to report 300 after one second, 900 after seven.
 * *Why:* nodes whose read offsets are τ apart exceed the target by at most N · slewPerSecond · target · τ: 10 nodes 5
 * ms apart by 0.5 % (docs/background/max-min-fairness.md, bounds).
 *
 * Silent cases, our choice: what one node gives up at once lies idle until another may take it. A node without a known
 * applied share starts at the strategy's share; one below its floor starts at the floor.
 */
export function slewed(strategy: Strategy, slewPerSecond: number): Strategy {
  return remembering(strategy, (view, dimension) => slew(view, dimension, slewPerSecond));
}

function slew(view: LaneView, dimension: number, slewPerSecond: number): void {
  const share = view.share[dimension];
  const perMs = (slewPerSecond * view.target[dimension]) / 1000;
  const perWeight = floorPerWeight(view, dimension);
  for (let at = 0; at < view.count; at++) {
    const end = share[at];
    const start = Math.max(startOf(view, dimension, at, end, perWeight), perWeight * view.weight[at]);
    const most = start + perMs * creditMs(view, at);
    if (most >= end * (1 - ARRIVED_RATIO)) continue;
    share[at] = most;
    view.moving[at] = 1;
  }
}
