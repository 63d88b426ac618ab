import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { appliedOf } from './ready-cluster.js';
import { SETTINGS } from './settings.js';

const QUOTA = 1000;
/** By then everybody has noticed: the last own record was on its way for as long, and a round. */
const NOTICED_MS = SETTINGS.isolationAfterMs + SETTINGS.heartbeatMs + 500;

test('the whole topic goes away while one has read that another needs less, who has not: both had held 500, and both hold that again', () => {
  const world = new World(1, SETTINGS);
  for (const name of ['a', 'b']) world.start(name);
  world.drive({ node: 'a', ratePerSecond: () => 2000, evenly: true });
  world.drive({ node: 'b', ratePerSecond: (nowMs) => (nowMs < 20_000 ? 2000 : 5), evenly: true });
  world.runFor(19_990);
  const [a, b] = [world.node('a'), world.node('b')];
  b.cutOff(true, { reads: true, appends: false });
  while (appliedOf(a) < 900) world.runFor(5);
  world.topic.isAway = true;
  expect(appliedOf(a) + appliedOf(b)).toBeGreaterThan(1.4 * QUOTA);
  world.runFor(NOTICED_MS);
  expect(appliedOf(a)).toBeCloseTo(QUOTA / 2, 6);
  expect(appliedOf(a) + appliedOf(b)).toBeLessThanOrEqual(QUOTA * (1 + 1e-9));
});
