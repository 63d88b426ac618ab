import { expect, test } from 'vitest';
import { playTargetScenario } from '../../../sim/target/target-run.js';
import { casesOf } from '../../unit/core/target/gtt-vectors.js';

/** Checks are a second apart, so that nothing settles before 1 s. */
const FIRST_CHECK_SEC = 1;

test.each(casesOf('equilibrium'))('$id on nodes, topic and limiters, by client-rate', (scenario) => {
  const outcomes = playTargetScenario(scenario, 'client-rate');
  outcomes.forEach(({ settledSec, hadToFill }, at) => {
    const reference = scenario.phases[at]?.baselineSettleSec as number;
    console.log(
      `${scenario.id} phase ${at + 1}: ${settledSec} s of ${reference}${hadToFill ? ', a queue filled' : ''}`,
    );
    expect(settledSec).toBeGreaterThan(0);
    expect(settledSec).toBeLessThanOrEqual(hadToFill ? reference : Math.max(FIRST_CHECK_SEC, reference / 2));
  });
});

test.each(casesOf('equilibrium'))('$id by max-min: within the reference’s time', (scenario) => {
  const outcomes = playTargetScenario(scenario, 'max-min');
  outcomes.forEach(({ settledSec }, at) => {
    expect(settledSec).toBeGreaterThan(0);
    expect(settledSec).toBeLessThanOrEqual(scenario.phases[at]?.baselineSettleSec as number);
  });
});
