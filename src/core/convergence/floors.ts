import { type Round, sum } from './strategy.js';

/**
 * Lifts every share to the node's floor (floorRatio · target · wᵢ/Σw) and takes what that costs from the others in
 * proportion to what they have above their floors, so that Σ shares stays what it was. A starved node could never show
 * again that it wants something: Pulsar's floor of 1 unit/s per node, as a *sum* bounded by the target.
 */
export function liftToFloors(round: Round, dimension: number): void {
  const share = round.share[dimension] as Float64Array;
  const perWeight = floorPerWeight(round, dimension);
  let missing = 0;
  let above = 0;
  for (let at = 0; at < round.count; at++) {
    const spare = (share[at] as number) - perWeight * (round.weight[at] as number);
    if (spare < 0) missing -= spare;
    else above += spare;
  }
  if (missing === 0) return;
  const keep = above > missing ? 1 - missing / above : 0;
  for (let at = 0; at < round.count; at++) {
    const floor = perWeight * (round.weight[at] as number);
    share[at] = floor + Math.max(0, (share[at] as number) - floor) * keep;
  }
}

/** floorᵢ = wᵢ times this. */
export function floorPerWeight(round: Round, dimension: number): number {
  return (round.floorRatio * (round.target[dimension] as number)) / sum(round.weight, round.count);
}
