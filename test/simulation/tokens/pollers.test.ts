import { expect, test } from 'vitest';
import { runScenario } from '../../../sim/run/run-scenario.js';
import { parseScenario } from '../../../sim/scenario/load-scenario.js';
import { systemNamed } from '../../../sim/systems.js';
import { someOf } from '../../property/seed.js';

/** Three readers fetch all that they are given, up to far more than the quota, so often. */
function played(everySeconds: number) {
  const text = `
name: pollers
says: Readers that fetch in batches.
durationSeconds: 30
nodes: 3
quota: { messagesPerSecond: 360 }
load: [{ kind: batches, size: 200, everySeconds: ${everySeconds} }]
`;
  return runScenario(parseScenario(text, 'pollers'), systemNamed('max-min')!, 1).verdict;
}

test.each(someOf([0.05, 0.0833, 0.1]))('readers that poll every %d s are given all of the quota', (everySeconds) => {
  const { utilisation, overAdmission, jain } = played(everySeconds);
  expect(utilisation).toBeGreaterThanOrEqual(0.99);
  expect(overAdmission).toBeLessThanOrEqual(0.025);
  expect(jain).toBeGreaterThanOrEqual(0.99);
});

test.each(someOf([0.2, 0.25, 0.5]))('those that poll every %d s use nine tenths of it', (everySeconds) => {
  const { utilisation, overAdmission } = played(everySeconds);
  expect(utilisation).toBeGreaterThanOrEqual(0.9);
  expect(overAdmission).toBeLessThanOrEqual(0.025);
});
