import { expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import { SETTINGS } from '../../simulation/settings.js';

test('the clock of a machine that is suspended by two causes at once stands still once, and never goes back', () => {
  const world = new World(1, SETTINGS);
  const node = world.start('a');
  world.runFor(1000);
  node.suspend(5000);
  world.runFor(2000);
  node.suspend(1000);
  world.runFor(500);
  node.suspend(4000);
  world.runFor(10_000);
  // From 1 s to 7.5 s of 13.5 s it stood still.
  expect(node.nowMs).toBe(7000);
});
