import { expect, test } from 'vitest';
import { World } from '../../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../../src/core/base/settings.js';
import { laneOf } from '../../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../../../simulation/settings.js';

/** Groups that every node serves; of the first ones more is wanted than the quota. */
const GROUPS = 800;
const THROTTLED = 20;
/** Participants of the lanes that take turns (lanes/lane-table.ts), which have no rows, and of those that are viewed. */
const PARTICIPANTS_PER_STEP = 250 + 3 * THROTTLED * 4;

test('a node that comes or goes has few lanes computed in one step, and all of them within four', () => {
  const groups = Array.from({ length: GROUPS }, (_, at): GroupSettings => {
    return { ...GROUP, name: `group-${at}`, quota: { ...GROUP.quota, publish: [200, Infinity] } };
  });
  const world = new World(1, { ...SETTINGS, groups }, { appendMs: [0.5, 2], deliveryMs: [0.5, 5] });
  for (const name of NAMES) world.start(name);
  world.runFor(1500);
  for (let group = 0; group < GROUPS; group++) ask(world, group, 1);
  for (let round = 0; round < 100; round++) {
    for (let group = 0; group < THROTTLED; group++) ask(world, group, 3);
    world.runFor(20);
  }
  const { coordinator } = world.node('a');
  const isThrottled = [...coordinator.lanes.values()].filter(({ tokens }) => tokens?.slots[0]?.expected.isThrottled);
  expect(isThrottled.length).toBe(THROTTLED);
  const steps: number[] = [];
  const step = coordinator.step.bind(coordinator);
  coordinator.step = (event, nowMs) => {
    const before = coordinator.shares.looks;
    const effects = step(event, nowMs);
    steps.push(coordinator.shares.looks - before);
    return effects;
  };
  const happenings: [spanMs: number, happen: () => void][] = [
    [1000, () => world.start('d')],
    [1000, () => world.node('d').leave()],
    [1000, () => world.start('e')],
    [SETTINGS.stalenessMs + 2000, () => world.node('e').crash()],
  ];
  for (const [spanMs, happen] of happenings) {
    steps.length = 0;
    happen();
    world.runFor(spanMs);
    const all = steps.reduce((sum, looks) => sum + looks, 0);
    const turns = steps.filter((looks) => looks >= 250).length;
    console.log(`${Math.max(...steps)} participants in a step at most, ${all} in all, ${turns} turns`);
    expect(Math.max(...steps)).toBeLessThanOrEqual(PARTICIPANTS_PER_STEP);
    expect(all).toBeGreaterThanOrEqual(GROUPS - THROTTLED);
    expect(turns).toBeLessThanOrEqual(4);
  }
});

const NAMES = ['a', 'b', 'c'];

function ask(world: World, group: number, count: number): void {
  for (const name of NAMES) for (let at = 0; at < count; at++) world.ask(name, laneOf(group, 0), 1, 100, false);
}
