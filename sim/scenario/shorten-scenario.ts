import type { Scenario } from './scenario.js';

/** Cuts a scenario to its first seconds, without expectations of the whole. */
export function shortenScenario(scenario: Scenario, seconds: number): Scenario {
  const durationMs = Math.min(scenario.durationMs, seconds * 1000);
  if (durationMs === scenario.durationMs) return scenario;
  return {
    ...scenario,
    durationMs,
    happenings: scenario.happenings.filter(({ atMs }) => atMs < durationMs),
    settlePointsMs: scenario.settlePointsMs?.filter((atMs) => atMs < durationMs) ?? null,
    expectations: new Map(),
  };
}
