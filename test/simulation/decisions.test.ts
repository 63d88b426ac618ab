import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { SETTINGS } from './settings.js';

/**
 * a wants 100/s. The more c wants, the less headroom a gets: its share falls from 122 to 101. Its limit stays 125 = 1.25
 * × demand, because the allowance grows by what the share loses.
 */
test('the decision log shows every share, also where share + allowance stays the same', () => {
  const world = new World(1, SETTINGS);
  for (const id of ['a', 'b', 'c']) world.start(id);
  world.runFor(100);
  world.drive({ node: 'a', ratePerSecond: () => 100, evenly: true });
  world.drive({ node: 'b', ratePerSecond: () => 400, evenly: true });
  world.drive({ node: 'c', ratePerSecond: (nowMs) => (nowMs < 10_000 ? 430 : 500), evenly: true });
  const a = world.node('a');
  const seen: string[] = [];
  while (world.nowMs < 20_000) {
    world.runFor(10);
    const { applied, limit } = a.coordinator.shares;
    if (a.decisions.length > 0) expect(a.decisions.at(-1)?.share).toBe(applied[0]);
    if (world.nowMs > 9000) seen.push(`${Math.round(applied[0]!)} of ${Math.round(limit[0]!)}`);
  }
  expect([seen[0], seen.at(-1)]).toEqual(['122 of 125', '101 of 125']);
});
