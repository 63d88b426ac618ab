import { expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { someOf } from '../property/seed.js';
import { runPool } from './pool-swarm.js';
import { GATED, GROUP, SETTINGS } from './settings.js';

const QUOTA = 900;
const EQUAL = { ...GATED, strategy: 'equal' };
const EQUAL_GROUP = { ...EQUAL, quota: { ...GROUP.quota, publish: [QUOTA, Infinity] as const } };

/** Applied by limiters that are in force now. */
function shares(world: World): number[] {
  return [...world.nodes.values()].flatMap(({ isRunning, coordinator, limiter, nowMs }) => {
    const isInForce = isRunning && coordinator.lanes.has(0) && nowMs <= limiter.validUntilMs.at(0);
    return isInForce ? [coordinator.shares.applied[0]] : [];
  });
}

/** Runs on in small steps; Σ shares never exceeds the quota in any of them. */
function runSafely(world: World, durationMs: number): void {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 2) {
    world.runFor(2);
    expect(shares(world).reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(QUOTA * (1 + 1e-9));
  }
}

function start(world: World, node: string, compacted = false): void {
  world.start(node, { compacted });
  world.drive({ node, ratePerSecond: () => 400, evenly: true });
}

test.each([1, 3])('1 → 3 → 2 → 1 nodes by start, farewell and kill, %i partition(s)', (partitions) => {
  const world = new World(4, { ...SETTINGS, partitions, groups: [EQUAL_GROUP] });
  start(world, 'a');
  runSafely(world, 1000);
  expect(shares(world)).toEqual([900]);
  start(world, 'b');
  start(world, 'c');
  runSafely(world, 500);
  expect(shares(world)).toEqual([300, 300, 300]);
  world.node('c').leave();
  runSafely(world, 300);
  expect(shares(world)).toEqual([450, 450]);
  world.node('b').crash();
  runSafely(world, 7000);
  expect(shares(world)).toEqual([900]);
});

test('10 → 1: the whole, not a tenth of it', () => {
  const world = new World(5, { ...SETTINGS, groups: [EQUAL_GROUP] });
  const nodes = Array.from({ length: 10 }, (_, at) => `n${at}`);
  for (const node of nodes) start(world, node);
  runSafely(world, 1000);
  expect(shares(world)).toEqual(nodes.map(() => 90));
  for (const node of nodes.slice(1)) world.node(node).leave();
  runSafely(world, 500);
  expect(shares(world)).toEqual([900]);
});

test('a rolling restart, and a process killed and started again before it is missed', () => {
  const world = new World(6, { ...SETTINGS, groups: [EQUAL_GROUP] });
  for (const node of ['a', 'b', 'c']) start(world, node);
  runSafely(world, 1000);
  for (const node of ['a', 'b']) {
    world.node(node).leave();
    runSafely(world, 700);
    world.start(node, { compacted: true });
    runSafely(world, 700);
    expect(shares(world)).toEqual([300, 300, 300]);
  }
  world.node('c').crash();
  runSafely(world, 200);
  world.start('c', { compacted: true });
  runSafely(world, 700);
  expect(shares(world)).toEqual([300, 300, 300]);
});

test('a newcomer waits until the others have made room, even if one of them is slow', () => {
  const world = new World(7, { ...SETTINGS, groups: [EQUAL_GROUP] });
  start(world, 'a');
  start(world, 'b');
  runSafely(world, 1000);
  world.node('b').stall(1500);
  runSafely(world, 100);
  start(world, 'c');
  runSafely(world, 1000);
  expect(world.node('a').coordinator.shares.applied[0]).toBe(300);
  expect(world.node('c').coordinator.shares.applied[0]).toBe(0);
  runSafely(world, 2000);
  expect(shares(world)).toEqual([300, 300, 300]);
});

/** test:long plays ten thousand. */
const SEEDS = someOf(Array.from({ length: 100 }, (_, at) => 1 + at));

test('agreement under 1 % loss and churn', () => {
  const worst = { sum: 0, settledMs: 0 };
  for (const seed of SEEDS) {
    const { largestSum, settledMs, divisors, live } = runPool(seed, 20);
    expect(divisors, `seed ${seed}`).toEqual(Array.from({ length: live }, () => live));
    worst.sum = Math.max(worst.sum, largestSum);
    worst.settledMs = Math.max(worst.settledMs, settledMs);
  }
  console.log(
    `agreed pools: ${SEEDS.length} seeds, largest Σ 1/divisor ${worst.sum}, slowest agreement ${worst.settledMs} ms`,
  );
  expect(worst.sum).toBeLessThanOrEqual(1 + 1e-9);
});
