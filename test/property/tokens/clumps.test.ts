import { expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import { SETTINGS } from '../../simulation/settings.js';
import { groupOf, LANE } from '../../simulation/tokens/play.js';

const PER_SECOND = 20;
const DEPTH = 1000;
const REST_MS = 20_000;
/** A quarter of a second of the quota, for records on their way. */
const DOUBT = 5;

test.each([450, 500, 600, 800])(
  'a clump of %i of 1,000 and a rest: another node finds no more than has flowed in',
  (units) => {
    const world = new World(
      1,
      { ...SETTINGS, groups: [groupOf(PER_SECOND, DEPTH)] },
      { appendMs: [1, 3], deliveryMs: [1, 8] },
    );
    for (const name of ['a', 'b']) world.start(name);
    world.runFor(9000);
    expect(world.ask('a', LANE, units, 0, false)).toBe(true);
    world.runFor(REST_MS);
    expect(world.ask('b', LANE, 1, 0, false)).toBe(true);
    const { tokens } = world.nodes.get('b')!.coordinator.lanes.get(LANE)!.tokens!.slots[0];
    const central = DEPTH - units + PER_SECOND * (REST_MS / 1000);
    expect(tokens).toBeLessThanOrEqual(central + DOUBT);
  },
);
