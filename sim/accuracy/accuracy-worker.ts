import { loadBuiltIn } from '../scenario/load-scenario.js';
import { SYSTEMS } from '../systems.js';
import { accuracyOf } from './accuracy-run.js';

interface Work {
  readonly name: string;
  readonly seeds: readonly number[];
}

process.on('message', ({ name, seeds }: Work) => {
  const scenario = loadBuiltIn(name);
  process.send?.(SYSTEMS.map((system) => accuracyOf(scenario, system, seeds)));
});
