import { describeBroken, judgeWishes } from '../run/expectations.js';
import { runScenario, runScenarioWarm } from '../run/run-scenario.js';
import type { Expectation, Scenario } from '../scenario/scenario.js';
import { OWN_SYSTEMS, type System, shortName } from '../systems.js';
import { METRICS, meanOf } from '../verdict/metric-table.js';
import type { Verdict } from '../verdict/run-result.js';

/** What one system did in one scenario: means over the seeds. */
export interface AccuracyRow extends Figures {
  /** The same of the first seed, on nodes that had been running before. */
  readonly warm: Figures['metrics'];
  /** Expectations of the scenario that were missed: `seed 2: utilisation 0.981 < 0.99`. */
  readonly missed: readonly string[];
  readonly wishes: readonly Wish[];
}

export interface Figures {
  readonly scenario: string;
  /** `max-min`, `pulsar`, … */
  readonly system: string;
  /** By name of the metric; null = cannot be told, for `convergenceMs`: with some seed it never settled. */
  readonly metrics: Readonly<Record<string, number | null>>;
}

/** A stricter bound that a scenario wishes for, and what came. */
export interface Wish {
  readonly metric: string;
  readonly bound: 'atLeast' | 'atMost';
  readonly wished: number;
  /** The bound that the scenario has. */
  readonly held: number;
  /** One per seed; null as in a verdict. */
  readonly values: readonly (number | null)[];
}

/** One row of the table. It depends on the arguments alone, bit for bit. */
export function accuracyOf(scenario: Scenario, system: System, seeds: readonly number[]): AccuracyRow {
  return { ...coldAccuracyOf(scenario, system, seeds), warm: warmMetricsOf(scenario, system, seeds[0]) };
}

/** The row without the figures of warm nodes. */
export function coldAccuracyOf(
  scenario: Scenario,
  system: System,
  seeds: readonly number[],
): Omit<AccuracyRow, 'warm'> {
  const results = seeds.map((seed) => runScenario(scenario, system, seed));
  const verdicts = results.map(({ verdict }) => verdict);
  const metrics = METRICS.map((metric) => [metric.name, meanOf(metric, verdicts)] as const);
  const missed = results.flatMap(({ seed, expectations }) =>
    expectations.filter(({ isKept }) => !isKept).map((broken) => `seed ${seed}: ${describeBroken(broken)}`),
  );
  const name = shortName(system.name);
  const wishes = wishesOf(scenario.expectations.get(name) ?? [], verdicts);
  return { scenario: scenario.name, system: name, metrics: Object.fromEntries(metrics), missed, wishes };
}

function warmMetricsOf(scenario: Scenario, system: System, seed: number): AccuracyRow['warm'] {
  const warmMs = OWN_SYSTEMS.includes(system) ? OWN_WARM_MS : OTHERS_WARM_MS;
  const { verdict } = runScenarioWarm(scenario, system, seed, warmMs);
  return Object.fromEntries(METRICS.map((metric) => [metric.name, meanOf(metric, [verdict])]));
}

/**
 * Time for each system to be as good as it gets: FoundationDB's client mode needs a minute and more, Pulsar several of
 * its reports. Ours settle within seconds, and cost most of the computing.
 */
export const OTHERS_WARM_MS = 240_000;
export const OWN_WARM_MS = 30_000;

function wishesOf(expected: readonly Expectation[], verdicts: readonly Verdict[]): readonly Wish[] {
  return expected.flatMap((expectation) => {
    const results = verdicts.flatMap((verdict) => judgeWishes([expectation], verdict));
    const [first] = results;
    if (first === undefined) return [];
    const { metric, bound, wished, held } = first;
    return [{ metric, bound, wished, held, values: results.map(({ value }) => value) }];
  });
}
