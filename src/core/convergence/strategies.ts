import { clientRate } from './client-rate.js';
import { equal } from './equal.js';
import { equalResidual } from './equal-residual.js';
import { maxMin } from './max-min.js';
import { proportional } from './proportional.js';
import { stealHalfway } from './steal-halfway.js';
import type { Strategy } from './strategy.js';

/** Lists the strategies, the default first. A new one is a file, a row here, and a row of test/property/twins.ts. */
const ALL: readonly Strategy[] = [maxMin, stealHalfway, clientRate, proportional, equalResidual, equal];

/** Strategies by their YAML names. */
export const STRATEGIES: Readonly<Record<string, Strategy>> = Object.freeze(
  Object.fromEntries(ALL.map((strategy) => [strategy.name, strategy])),
);

export const STRATEGY_NAMES = Object.freeze(Object.keys(STRATEGIES));
export const DEFAULT_STRATEGY = STRATEGY_NAMES[0];
