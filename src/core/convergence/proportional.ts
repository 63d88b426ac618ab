import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { liftToFloors } from './floors.js';
import { type LaneView, needsConvergence, type Strategy, sum } from './strategy.js';

/**
 * Splits the residual in proportion to usage.
 *
 *     shareᵢ = usageᵢ + residual · usageᵢ/Σusage = target · usageᵢ/Σusage,   residual = target − Σusage
 *
 * PIP-82, usage distribution, second alternative. Any split that spends the target stays: 80/20 remains 80/20 although
 * both want more, and a node that wakes beside a saturated one rises from its floor only as far as that one leaves
 * room. In the picture `b` wants as much as `a` from 3 s on and does not get it.
 *
 * *When:* whoever is busy shall stay so: a split that was found in time is kept (PIP-82, Pulsar's rule)
 *
 * *Worked:* target 100, usage 10/50/30 → 11.1/55.6/33.3; 30/60/60 (50 over) → 20/40/40.
 *
 * *Why:* Σusage = 0 gives target · wᵢ/Σw, never the whole target for each; a node without usage keeps its floor.
 * Dimensions are split apart: usage already shows what a node can use of both together.
 */
export const proportional: Strategy = {
  name: 'proportional',
  reads: 'usage',
  converge,
};

function converge(view: LaneView): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (needsConvergence(view, dimension)) splitByUsage(view, dimension);
  }
}

/** Splits the target by usage. equal-residual reduces by it, too, as PIP-82 lets both. */
export function splitByUsage(view: LaneView, dimension: number): void {
  const target = view.target[dimension];
  const share = view.share[dimension];
  const usage = view.usage[dimension];
  const used = sum(usage, view.count);
  const base = used > 0 ? usage : view.weight;
  const total = used > 0 ? used : sum(view.weight, view.count);
  for (let at = 0; at < view.count; at++) share[at] = target * (base[at] / total);
  liftToFloors(view, dimension, share);
}
