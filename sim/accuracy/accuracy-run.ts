import { describeBroken, judgeWishes, type WishResult } from '../run/expectations.js';
import { runScenario, runScenarioWarm } from '../run/run-scenario.js';
import type { Expectation, Scenario } from '../scenario/scenario.js';
import { OWN_SYSTEMS, type System, shortName } from '../systems.js';
import { METRICS, meanOf } from '../verdict/metric-table.js';
import type { Verdict } from '../verdict/run-result.js';

export interface AccuracyRow extends Figures {
  /** Means of the first seed on warm nodes. */
  readonly warm: Figures['metrics'];
  readonly missed: readonly string[];
  readonly wishes: readonly Wish[];
}

export interface Figures {
  readonly scenario: string;
  /** Name such as `max-min`, `pulsar`. */
  readonly system: string;
  /** Figures by metric; null = unknown, or in `convergenceMs` never settled. */
  readonly metrics: Readonly<Record<string, number | null>>;
}

/** Stricter bound that a scenario wishes for, and its figures. */
export interface Wish extends Omit<WishResult, 'value' | 'isReached'> {
  /** One per seed; null as in a verdict. */
  readonly values: readonly (number | null)[];
}

/** Computes a row, bit for bit by its arguments. */
export function accuracyOf(scenario: Scenario, system: System, seeds: readonly number[]): AccuracyRow {
  return { ...coldRowOf(scenario, system, seeds), warm: warmMetricsOf(scenario, system, seeds[0]) };
}

/** Computes a row without warm figures. */
export function coldRowOf(scenario: Scenario, system: System, seeds: readonly number[]): Omit<AccuracyRow, 'warm'> {
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
 * Milliseconds to warm others up: FoundationDB's client mode needs a minute, Pulsar several reports. Ours settle in
 * seconds, and cost most.
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
