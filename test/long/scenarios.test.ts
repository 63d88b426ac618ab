import { expect, test } from 'vitest';
import { describeBroken } from '../../sim/run/expectations.js';
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
