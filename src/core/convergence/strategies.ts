import { clientRate } from './client-rate.js';
import { equal } from './equal.js';
import { equalResidual } from './equal-residual.js';
import { maxMin } from './max-min.js';
import { proportional } from './proportional.js';
import { stealHalfway } from './steal-halfway.js';
import type { Strategy } from './strategy.js';

/** YAML name → strategy. A new strategy is a file, a row here, and a twin in the strategies' tests. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = Object.freeze({
  'max-min': maxMin,
  'steal-halfway': stealHalfway,
  'client-rate': clientRate,
  proportional,
  'equal-residual': equalResidual,
  equal,
});

export const STRATEGY_NAMES = Object.freeze(Object.keys(STRATEGIES));
export const DEFAULT_STRATEGY = 'max-min';
