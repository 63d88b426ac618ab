import { describe, expect, test } from 'vitest';
import { describeBroken, judgeWishes } from '../../sim/run/expectations.js';
import { runScenario } from '../../sim/run/run-scenario.js';
import { builtInNames, loadBuiltIn } from '../../sim/scenario/load-scenario.js';
import { type System, systemNamed } from '../../sim/systems.js';

const SEEDS = [1, 2, 3];

test.each(builtInNames())('%s keeps what it expects', (name) => {
  const scenario = loadBuiltIn(name);
  const broken = [...scenario.expectations.keys()].flatMap((system) =>
    SEEDS.flatMap((seed) => {
      const { expectations } = runScenario(scenario, systemNamed(system) as System, seed);
      const missed = expectations.filter(({ isKept }) => !isKept);
      return missed.map((expectation) => `${system}, seed ${seed}: ${describeBroken(expectation)}`);
    }),
  );
  expect(broken).toEqual([]);
});

/** Expectations are what five seeds reach (docs/decisions/0013); a wish that they reach is one. */
describe('a wish that five seeds reach must become the bound', () => {
  const WISHING_SEEDS = [1, 2, 3, 4, 5];
  const wishing = builtInNames().flatMap((name) => {
    const scenario = loadBuiltIn(name);
    return [...scenario.expectations].flatMap(([system, expected]) =>
      expected.some(({ wished }) => wished !== null) ? [{ name, system, expected, scenario }] : [],
    );
  });

  test('there are wishes', () => {
    expect(wishing.length).toBeGreaterThan(0);
  });

  // A seed is played only while all before it have reached some wish: one seed, mostly.
  test.each(wishing)('$name, $system', ({ system, expected, scenario }) => {
    let reached = expected.filter(({ wished }) => wished !== null);
    for (const seed of WISHING_SEEDS) {
      if (reached.length === 0) break;
      const { verdict } = runScenario(scenario, systemNamed(system) as System, seed);
      const results = judgeWishes(reached, verdict);
      reached = reached.filter((_, at) => results[at]?.isReached);
    }
    const remedy = reached.map(({ metric, wished }) => `${metric}: make ${wished} the bound, and leave "wished" out`);
    expect(remedy).toEqual([]);
  });
});
