import { jainIndex as jainOf } from '../../../../sim/verdict/fairness.js';
import { BYTES, MESSAGES, type Rates } from '../../../core/base/vocabulary.js';
import { maxMin } from '../../../core/convergence/max-min.js';
import { createLaneView } from '../../../core/convergence/strategy.js';

/** One node's wants and admissions in one second: [messages, bytes]. */
export interface NodeSecond {
  readonly demand: Rates;
  readonly admitted: Rates;
}

/**
 * Computes Jain's index of one second: how evenly nodes came by their max-min amounts, 1 = exactly.
 *
 *     xᵢ = admittedᵢ ÷ what a max-min division of the quota by this second's demand lets node i admit
 *
 * Nodes without demand do not count; NaN below two.
 */
export function jainIndex(quota: Rates, nodes: readonly NodeSecond[]): number {
  const parts = fairMessages(quota, nodes).flatMap((fair, at) =>
    fair > 0 ? [nodes[at].admitted[MESSAGES] / fair] : [],
  );
  return jainOf(parts) ?? Number.NaN;
}

function fairMessages(quota: Rates, nodes: readonly NodeSecond[]): number[] {
  const round = createLaneView(nodes.length);
  round.count = nodes.length;
  round.target.set(quota);
  for (const [at, { demand }] of nodes.entries()) {
    round.weight[at] = 1;
    round.demand[MESSAGES][at] = demand[MESSAGES];
    round.demand[BYTES][at] = demand[BYTES];
  }
  maxMin.converge(round);
  return nodes.map(({ demand }, at) => {
    const messages = round.share[MESSAGES][at] / demand[MESSAGES];
    const bytes = round.share[BYTES][at] / demand[BYTES];
    return demand[MESSAGES] > 0 ? demand[MESSAGES] * Math.min(1, messages, bytes) : 0;
  });
}
