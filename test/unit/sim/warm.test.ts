import { describe, expect, it } from 'vitest';
import { OTHERS_WARM_MS } from '../../../sim/accuracy/accuracy-run.js';
import { runScenario, runScenarioWarm } from '../../../sim/run/run-scenario.js';
import { loadBuiltIn } from '../../../sim/scenario/load-scenario.js';
import { SYSTEMS, shortName } from '../../../sim/systems.js';

function play(scenario: string, name: string, warmMs = OTHERS_WARM_MS) {
  const system = SYSTEMS.find((one) => shortName(one.name) === name)!;
  const loaded = loadBuiltIn(scenario);
  return [runScenario(loaded, system, 1), runScenarioWarm(loaded, system, 1, warmMs)];
}

describe('nodes that have been running before a scenario begins', () => {
  it('have found limits that a cold start of a minute does not show: FoundationDB’s client mode', () => {
    const [cold, warm] = play('skewed', 'fdb-client').map(({ verdict }) => verdict);
    expect(cold.worstSecond).toBeGreaterThan(2);
    expect(cold.utilisation).toBeLessThan(0.95);
    expect(warm.worstSecond).toBeLessThan(1.1);
    expect(warm.utilisation).toBeGreaterThan(0.99);
  });

  it('have told what they use: Pulsar every 10 s', () => {
    const [cold, warm] = play('below-quota', 'pulsar-10s').map(({ verdict }) => verdict);
    expect(cold.utilisation).toBeLessThan(0.8);
    expect(warm.utilisation).toBeGreaterThan(0.99);
  });

  it('see what happens at its time, and records before it are not counted', () => {
    const [coldRun, warmRun] = play('crash', 'max-min', 10_000);
    const [cold, warm] = [coldRun.verdict, warmRun.verdict];
    expect(warm.records).toBeGreaterThan(0.8 * cold.records);
    expect(warm.records).toBeLessThan(1.1 * cold.records);
    expect(warm.utilisation).toBeGreaterThan(0.98);
    // Only the crash and the return are steps.
    expect(warm.convergenceMs).toHaveLength(cold.convergenceMs.length - 1);
    expect(warmRun.happenings).toEqual(coldRun.happenings);
  });
});
