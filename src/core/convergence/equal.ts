import { DIMENSION_COUNT } from '../vocabulary.js';
import { needsConvergence, type Round, type Strategy, sum } from './strategy.js';

/**
 * The target by weight over the alive nodes, whatever they use or want (Numaflow's rate limiter divides like this):
 *
 *     shareᵢ = target · wᵢ/Σw
 *
 * Worked: target 100, 4 nodes → 25 each. Weights 2/1/1 → 50/25/25. Demands 5 and 25 of 20 → 10/10, and 15 are served.
 *
 * Silent cases, our choice: a node without reports counts from its NODE record on, and until it is expired (5 s after
 * it falls silent, at once after a farewell). Floors and headroom have nothing to do. Know what you choose: what one
 * node does not use nobody else may; at N nodes of which one is busy, 1/N of the target is used.
 */
export const equal: Strategy = { name: 'equal', remembers: false, reads: 'demand', overshoots: false, converge };

function converge(round: Round): void {
  const weights = sum(round.weight, round.count);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!needsConvergence(round, dimension)) continue;
    const share = round.share[dimension] as Float64Array;
    const target = round.target[dimension] as number;
    for (let at = 0; at < round.count; at++) share[at] = target * ((round.weight[at] as number) / weights);
  }
}
