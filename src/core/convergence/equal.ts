import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { type LaneView, needsConvergence, nodesIn, type Strategy, sum } from './strategy.js';

/**
 * Divides the target by weight, whatever nodes use or want.
 *
 *     shareᵢ = target · wᵢ/Σw · N/divisorᵢ        divisorᵢ = N while all agree on N; a newcomer waits with share 0
 *
 * Numaflow's distributed throttling. Nothing moves but when nodes come and go. Nobody may use the part that another
 * node leaves: with one busy node of N, 1/N of the target is used in the long run. If tokens are shared, an idle group
 * has its whole burst at any node all the same.
 *
 * **The agreed pool.** A node reports in its heartbeats by how many it divides. While nodes report different sizes
 * everybody divides by the largest, and newcomers wait with share 0; when all report the number of living nodes,
 * everybody divides by it. So the sum never exceeds the target. A node that does not answer keeps newcomers waiting
 * until it is expired (5 s). Status shows the pool, metrics `quotamesh_pool_size` and `quotamesh_pool_agreed`.
 *
 * *When:* lending is not wanted: every node has its part, used or not
 *
 * *Worked:* target 100, 4 nodes → 25 each. Weights 2/1/1 → 50/25/25. Demands 5 and 25 of 20 → 10/10, and 15 are served.
 * One of 3 nodes leaves: 33.3 each until both have said 2, then 50 each. One more comes: 33.3 at once, and so much for
 * the newcomer when both have said 3.
 *
 * *Why:* a node without reports counts from its NODE record on, and until it is expired. Floors and headroom change
 * nothing (docs/decisions/0027). Weights are not agreed on: where they differ, the gap between the nodes' offsets
 * bounds Σ shares, as with other strategies.
 */
export const equal: Strategy = {
  name: 'equal',
  reads: 'demand',
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
