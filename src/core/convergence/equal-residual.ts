import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { floorPerWeight } from './floors.js';
import { splitByUsage } from './proportional.js';
import { type LaneView, needsConvergence, type Strategy, sum } from './strategy.js';

/**
 * Every node adds the whole residual to its usage (PIP-82, usage distribution, first alternative):
 *
 *     shareᵢ = usageᵢ + residual,   residual = target − Σusage
 *
 * Worked: target 100, usage 10/50/30 → 20/60/40 (Σ 120). The text accepts that: "in the short term, this will lead to
 * passing the set quota, but it will quickly converge". Documented overshoot: Σ shares ≤ target + (n − 1) · residual.
 *
 * Silent cases, our choice: Σusage = 0 → target · wᵢ/Σw (by the formula every node would take the whole target); no
 * residual left → reduction in proportion to usage, as `proportional`, with floors; a residual below a node's floor →
 * the floor (Σ grows by at most floorRatio · target), because a starved node could never show again that it wants
 * something.
 */
export const equalResidual: Strategy = {
  name: 'equal-residual',
  remembers: false,
  reads: 'usage',
  overshoots: true,
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
