import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { type LaneView, needsConvergence, nodesIn, type Strategy, sum } from './strategy.js';

/**
 * The target by weight over the agreed pool, whatever its members use or want (Numaflow, "distributed throttling"):
 *
 *     shareᵢ = target · wᵢ/Σw · N/divisorᵢ        divisorᵢ = N while all agree; a newcomer waits with share 0
 *
 * Worked: target 100, 4 nodes → 25 each. Weights 2/1/1 → 50/25/25. Demands 5 and 25 of 20 → 10/10, and 15 are served.
 * One of 3 nodes leaves: 33.3 each until both have said 2, then 50 each. One more comes: 33.3 at once, and so much for
 * the newcomer when both have said 3 (core/usage-map/pool/agreed-pool.ts).
 *
 * Silent cases, our choice: a node without reports counts from its NODE record on, and until it is expired (5 s after
 * it falls silent, at once after a farewell). Floors and headroom have nothing to do (docs/decisions/0027). Weights are
 * no part of what is agreed: where they differ, Σ shares is bounded by how far apart the nodes have read, as with other
 * strategies. Know what you choose: what one node does not use nobody else may; at N nodes of which one is busy, 1/N is
 * used.
 */
export const equal: Strategy = {
  name: 'equal',
  remembers: false,
  reads: 'demand',
  overshoots: false,
  agreesOnPool: true,
  converge,
};

function converge(view: LaneView): void {
  const { count, divisor } = view;
  const all = nodesIn(view);
  const weights = sum(view.weight, count);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!needsConvergence(view, dimension)) continue;
    const share = view.share[dimension];
    const target = view.target[dimension];
    for (let at = 0; at < count; at++) {
      const agreed = divisor[at] === 0 ? 1 : all / divisor[at];
      share[at] = target * (view.weight[at] / weights) * Math.min(1, agreed);
    }
  }
}
