import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { Oracle } from '../../sim/oracle/oracle.js';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import { appliedOf } from './ready-cluster.js';
import { GROUP, SETTINGS } from './settings.js';

const NAMES = ['a', 'b', 'c'];
const QUOTA = GROUP.quota.publish[MESSAGES];
/** As the swarm has it. */
const RECOVERY_MS = SETTINGS.stalenessMs + SETTINGS.isolationAfterMs / 2 + 2000;

function signedWorld() {
  const world = new World(5, { ...SETTINGS, partitions: 2 });
  const oracle = new Oracle(world);
  world.observer = oracle;
  world.signingKey = 'right';
  for (const node of NAMES) world.start(node);
  for (const node of NAMES) world.drive({ node, ratePerSecond: () => QUOTA, evenly: true });
  world.runFor(6000);
  return { world, oracle };
}

function restart(world: World, name: string, signingKey?: string): void {
  world.node(name).crash();
  world.start(name, { compacted: true, ...(signingKey !== undefined && { signingKey }) });
}

test('a node with a wrong key never decides, and the others share the whole quota without it', () => {
  const { world } = signedWorld();
  restart(world, 'a', 'wrong');
  world.runFor(10_000);
  expect(world.node('a').coordinator.isReady).toBe(false);
  expect(['b', 'c'].reduce((sum, name) => sum + appliedOf(world.node(name)), 0)).toBeCloseTo(QUOTA, 6);
});

test.each([0, 300, 9000])(
  'who comes back with the right key after %i ms with another one counts again for all',
  (ms) => {
    const { world, oracle } = signedWorld();
    // Two, so that they serve with the wrong key, and write over all their keys.
    for (const name of ['a', 'b']) restart(world, name, 'wrong');
    world.runFor(ms);
    for (const name of ['a', 'b']) restart(world, name);
    world.runFor(RECOVERY_MS);
    oracle.expectRecovered(NAMES);
    oracle.check();
    expect(oracle.violations.first).toEqual([]);
    expect(NAMES.reduce((sum, name) => sum + appliedOf(world.node(name)), 0)).toBeCloseTo(QUOTA, 6);
  },
);
