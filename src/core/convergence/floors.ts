import { type LaneView, sum } from './strategy.js';

/**
 * Lifts every amount to the node's floor (floorRatio · target · wᵢ/Σw). The cost comes out of the left-over of the
 * target first, then out of what the others have above their floors, in proportion. A starved node could never show
 * again that it wants something: Pulsar's floor of 1 unit/s per node, as a *sum* bounded by the target.
 */
export function liftToFloors(view: LaneView, dimension: number, amounts: Float64Array): void {
  if (floors.length < view.count) floors = new Float64Array(view.count * 2);
  const perWeight = floorPerWeight(view, dimension);
  for (let at = 0; at < view.count; at++) floors[at] = perWeight * view.weight[at];
  liftTo(amounts, floors, view.count, view.target[dimension]);
}

let floors = new Float64Array(64);

/** Raises amounts to any lower bounds, whose sum must not exceed `most`; Σ amounts rises at most to that. */
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

/** floorᵢ = wᵢ times this. */
export function floorPerWeight(view: LaneView, dimension: number): number {
  return (view.floorRatio * view.target[dimension]) / sum(view.weight, view.count);
}
