import { type LaneView, sum } from './strategy.js';

/**
 * Lifts every amount to the node's floor (floorRatio · target · wᵢ/Σw). The left-over of the target pays first, then
 * the others in proportion to what they have above their floors. A starved node could never show demand again: Pulsar's
 * floor of 1 unit/s per node, as a *sum* bounded by the target.
 */
export function liftToFloors(view: LaneView, dimension: number, amounts: Float64Array): void {
  if (floors.length < view.count) floors = new Float64Array(view.count * 2);
  const perWeight = floorPerWeight(view, dimension);
  for (let at = 0; at < view.count; at++) floors[at] = perWeight * view.weight[at];
  liftTo(amounts, floors, view.count, view.target[dimension]);
}

let floors = new Float64Array(64);

/** Raises amounts to lower bounds whose sum is at most `most`. Σ amounts rises at most to `most`. */
export function liftTo(amounts: Float64Array, low: Float64Array, count: number, most: number): void {
  let missing = 0;
  let above = 0;
  for (let at = 0; at < count; at++) {
    const spare = amounts[at] - low[at];
    if (spare < 0) missing -= spare;
    else above += spare;
  }
  if (missing === 0) return;
  const cost = missing - Math.max(0, most - sum(amounts, count));
  const keep = cost <= 0 ? 1 : above > cost ? 1 - cost / above : 0;
  for (let at = 0; at < count; at++) {
    const least = low[at];
    amounts[at] = least + Math.max(0, amounts[at] - least) * keep;
  }
}

/** Computes floorᵢ/wᵢ, the same for all participants. */
export function floorPerWeight(view: LaneView, dimension: number): number {
  return (view.floorRatio * view.target[dimension]) / sum(view.weight, view.count);
}
