import { builtInNames, loadBuiltIn } from '../scenario/load-scenario.js';
import { SYSTEMS, shortName } from '../systems.js';
import { coldRowOf } from './accuracy-run.js';

const SEED = 1;
const WHOLE = 'max-min';
const WHOLE_MAX_MS = 20_000;
const SHORT_MS = 2000;

/**
 * Writes a line per scenario and system, seed 1: `max-min` for 20 s, others for 2. `npm test` compares bytes; `npm run
 * accuracy -- --pin` stores them.
 */
export function pinnedAccuracy(scenarios: readonly string[] = builtInNames()): string {
  const lines = scenarios.flatMap((name) => {
    const scenario = loadBuiltIn(name);
    return SYSTEMS.map((system) => {
      const isWhole = shortName(system.name) === WHOLE;
      const durationMs = Math.min(scenario.durationMs, isWhole ? WHOLE_MAX_MS : SHORT_MS);
      const played = { ...scenario, durationMs };
      const { metrics } = coldRowOf(played, system, [SEED]);
      const rounded = Object.fromEntries(Object.entries(metrics).map(([metric, value]) => [metric, round(value)]));
      return `${name} ${shortName(system.name)} ${JSON.stringify(rounded)}`;
    });
  });
  return `${lines.join('\n')}\n`;
}

function round(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(9));
}
