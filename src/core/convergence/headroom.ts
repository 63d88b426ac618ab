import { type LaneView, sum } from './strategy.js';

/**
 * Adds a part of the unwanted left-over to each given amount:
 *
 *     by-weight   left · wᵢ/Σw: a node that wakes next to idle ones starts with its part at once
 *     by-demand   left · givenᵢ/Σ given: room for busy nodes; a node that wakes starts with its floor's part
 *     none        nobody gets it: a limit is never above the reported demand
 *
 * *Worked:* target 100, given 20/30 → by-weight 45/55, by-demand 40/60, none 20/30.
 *
 * Silent case, our choice: if nobody has reported any demand, all three give target · wᵢ/Σw. Otherwise a cluster that
 * was idle would refuse its first request.
 */
export function addHeadroom(view: LaneView, dimension: number, given: Float64Array): void {
  const share = view.share[dimension];
  const left = view.target[dimension] - sum(given, view.count);
  const isSilent = !hasDemand(view, dimension);
  const basis = view.headroom === 'by-weight' || isSilent ? view.weight : given;
  const total = view.headroom === 'none' && !isSilent ? 0 : sum(basis, view.count);
  const each = left > 0 && total > 0 ? left / total : 0;
  for (let at = 0; at < view.count; at++) share[at] = given[at] + each * basis[at];
}

function hasDemand(view: LaneView, dimension: number): boolean {
  const demand = view.demand[dimension];
  for (let at = 0; at < view.count; at++) if (demand[at] > 0) return true;
  return false;
}
