import { describeBroken } from '../run/expectations.js';
import { runScenario } from '../run/run-scenario.js';
import type { Scenario } from '../scenario/scenario.js';
import { type System, shortName } from '../systems.js';
import { METRICS, meanOf } from '../verdict/metric-table.js';

/** What one system did in one scenario: means over the seeds. */
export interface AccuracyRow {
  readonly scenario: string;
  /** `max-min`, `pulsar`, … */
  readonly system: string;
  /** By name of the metric; null = cannot be told, for `convergenceMs`: with some seed it never settled. */
  readonly metrics: Readonly<Record<string, number | null>>;
  /** Expectations of the scenario that were missed: `seed 2: utilisation 0.981 < 0.99`. */
  readonly missed: readonly string[];
}

/** One row of the table. It depends on the arguments alone, bit for bit. */
export function accuracyOf(scenario: Scenario, system: System, seeds: readonly number[]): AccuracyRow {
  const results = seeds.map((seed) => runScenario(scenario, system, seed));
  const verdicts = results.map(({ verdict }) => verdict);
  const metrics = METRICS.map((metric) => [metric.name, meanOf(metric, verdicts)] as const);
  const missed = results.flatMap(({ seed, expectations }) =>
    expectations.filter(({ isKept }) => !isKept).map((broken) => `seed ${seed}: ${describeBroken(broken)}`),
  );
  return { scenario: scenario.name, system: shortName(system.name), metrics: Object.fromEntries(metrics), missed };
}
