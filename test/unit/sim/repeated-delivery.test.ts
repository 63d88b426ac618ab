import { expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import { SETTINGS } from '../../simulation/settings.js';

/** What a process was given: partition and offset of each record, in order. */
function deliveriesTo(world: World, node: string): string[] {
  const given: string[] = [];
  world.observer = {
    stepped: ({ coordinator }, event) => {
      if (event.kind !== 'records-read' || coordinator.settings.nodeId !== node) return;
      given.push(...event.records.map(({ partition, offset }) => `${partition}/${offset}`));
    },
  };
  return given;
}

test.each([
  ['the whole log', false],
  ['a log whose old records were removed', true],
])('who has read %s is given again what he was given, and nothing else', (_, compacted) => {
  const world = new World(3, { ...SETTINGS, partitions: 2 });
  world.start('a');
  world.drive({ node: 'a', ratePerSecond: (ms) => 100 + (ms % 2000) });
  world.runFor(5000);
  const given = deliveriesTo(world, 'b');
  world.start('b', { compacted });
  world.runFor(2000);
  const before = new Set(given);
  const offsets = world.topic.partitions.reduce((sum, { length }) => sum + length, 0);
  expect(before.size < offsets).toBe(compacted);
  world.node('b').repeatDelivery(1000);
  const again = given.slice(before.size);
  expect(again.length).toBeGreaterThan(5);
  expect(again.filter((place) => !before.has(place))).toEqual([]);
});
