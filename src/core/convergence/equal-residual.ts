import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { floorPerWeight } from './floors.js';
import { splitByUsage } from './proportional.js';
import { type LaneView, needsConvergence, type Strategy, sum } from './strategy.js';

/**
 * Adds the whole residual to the usage of every node.
 *
 *     shareᵢ = usageᵢ + residual,   residual = target − Σusage;  a negative one is given back in proportion
 *
 * PIP-82, usage distribution, first alternative. The text accepts Σ shares ≤ target + (n − 1) · residual: "in the short
 * term, this will lead to passing the set quota, but it will quickly converge". Above the target it reduces like
 * `proportional`. Nodes that did not use their share have room to grow at once, at the price of the quota where rates
 * are shared; where tokens are, the bucket of the cluster keeps it.
 *
 * *When:* whoever is busy shall stay so, with room for all to grow; with gates it exceeds the quota for some rounds
 * (PIP-82)
 *
 * *Worked:* target 100, usage 10/50/30 → 20/60/40, which is 120.
 *
 * *Why:* Σusage = 0 gives target · wᵢ/Σw (by the formula every node would take the whole target). A residual below a
 * node's floor gives the floor (Σ grows by at most floorRatio · target): a starved node could never show demand again.
 */
export const equalResidual: Strategy = {
  name: 'equal-residual',
  reads: 'usage',
  converge,
};

function converge(view: LaneView): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!needsConvergence(view, dimension)) continue;
    const usage = view.usage[dimension];
    const used = sum(usage, view.count);
    const residual = view.target[dimension] - used;
    if (used === 0 || residual <= 0) {
      splitByUsage(view, dimension);
      continue;
    }
    const share = view.share[dimension];
    const perWeight = floorPerWeight(view, dimension);
    for (let at = 0; at < view.count; at++) {
      const room = residual * view.nodes[at];
      share[at] = Math.max(usage[at] + room, perWeight * view.weight[at]);
    }
  }
}
