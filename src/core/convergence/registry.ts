import { equalResidual } from './equal-residual.js';
import { maxMin } from './max-min.js';
import { proportional } from './proportional.js';
import type { Strategy } from './strategy.js';

/** YAML name → strategy. A new strategy is a file, a row here, and a row in the strategies' tests. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = Object.freeze({
  'max-min': maxMin,
  proportional,
  'equal-residual': equalResidual,
});

export const STRATEGY_NAMES = Object.freeze(Object.keys(STRATEGIES));
export const DEFAULT_STRATEGY = 'max-min';
