import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { liftToFloors } from './floors.js';
import { type LaneView, needsConvergence, type Strategy, sum } from './strategy.js';

/**
 * The residual split in proportion to usage (PIP-82, usage distribution, second alternative):
 *
 *     shareᵢ = usageᵢ + residual · usageᵢ/Σusage,   residual = target − Σusage
 *
 * If the residual is negative, everybody gives up usage in proportion.
 *
 * Worked: target 100, usage 10/50/30 → 11.11/55.56/33.33. Usage 30/60/60 (50 over) → 20/40/40.
 *
 * Silent cases, our choice: Σusage = 0 → target · wᵢ/Σw, never the whole target for each; a node without usage keeps
 * its floor. Know what you choose: any split that spends the target is a fixed point, 80/20 stays 80/20. `max-min` and
 * `steal-halfway` are the fair ones. Dimensions are split apart: usage shows already what a node can use of both
 * together.
 */
export const proportional: Strategy = {
  name: 'proportional',
  remembers: false,
  reads: 'usage',
  overshoots: false,
  converge,
};

function converge(view: LaneView): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (needsConvergence(view, dimension)) splitByUsage(view, dimension);
  }
}

/** equal-residual uses this, too: PIP-82 lets both reduce in the same way when the target is exceeded. */
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
