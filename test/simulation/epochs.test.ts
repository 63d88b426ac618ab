import { describe, expect, test } from 'vitest';
import type { SimulatedNode } from '../../sim/cluster/simulated-node.js';
import { World, type WorldSettings } from '../../sim/cluster/world.js';
import { groupIdOf } from '../../src/core/base/ids.js';
import { DIRECTION_COUNT, MESSAGES } from '../../src/core/base/vocabulary.js';
import { someOf } from '../property/seed.js';
import { appliedOf } from './ready-cluster.js';
import { GATED, SETTINGS } from './settings.js';

const NAMES = ['orders', 'mails', 'events'];
const QUOTA = 1000;
const STALENESS_MS = SETTINGS.stalenessMs;
/** From sending to reading back, at most; two rounds to begin with, and for the step that follows. */
const ROUND_TRIP_MS = 5 + 4 * SETTINGS.sampleIntervalMs;

function worldOf(seed: number, nodes: readonly string[], change: Partial<WorldSettings> = {}, strategy = 'max-min') {
  const groups = NAMES.map((name) => ({ ...GATED, name, strategy }));
  const world = new World(seed, { ...SETTINGS, partitions: 1 + (seed % 4), groups, ...change });
  for (const name of nodes) world.start(name);
  return world;
}

/** Steady work of every node in every group, so that all have the same view when the log goes. */
function drive(world: World, names: readonly string[], rate: (at: number) => number): void {
  names.forEach((node, at) => {
    for (const group of NAMES.keys()) {
      world.drive({ node, lane: group * DIRECTION_COUNT, ratePerSecond: () => rate(at + group), evenly: true });
    }
  });
}

function sumOf(world: World, group: number): number {
  return running(world).reduce((sum, node) => sum + appliedOf(node, group * DIRECTION_COUNT), 0);
}

function running(world: World): SimulatedNode[] {
  return [...world.nodes.values()].filter(({ isRunning }) => isRunning);
}

/** Runs, and expects that no Σ of applied shares of a group is above the quota meanwhile, but for `beyond`. */
function expectKept(world: World, forMs: number, beyond = 0): void {
  let worst = 0;
  for (const endMs = world.nowMs + forMs; world.nowMs < endMs; ) {
    world.runFor(5);
    for (const group of NAMES.keys()) worst = Math.max(worst, sumOf(world, group));
  }
  expect(worst).toBeLessThanOrEqual(QUOTA * (1 + 1e-9) + beyond);
}

/** What every running node computes for all of them, and applies for itself, bit for bit. */
function expectSameShares(world: World): void {
  const nodes = running(world);
  for (const [group, name] of NAMES.entries()) {
    const views = nodes.map(({ coordinator }) => {
      const { share, count } = coordinator.shares.converge(group, coordinator.laneOf(groupIdOf('demo', name), 0));
      return Array.from(share[MESSAGES].subarray(0, count));
    });
    for (const view of views) expect(view).toEqual(views[0]);
    expect(views[0]).toHaveLength(nodes.length);
    for (const node of nodes) {
      const own = node.coordinator.membership.indexOf(node.coordinator.nodeKey);
      expect(appliedOf(node, group * DIRECTION_COUNT)).toBe(views[0]?.[own]);
    }
  }
}

function settledAfterMs(node: SimulatedNode): number[] {
  return node.notices.flatMap(({ notice }) => (notice.kind === 'epoch-settled' ? [notice.afterMs] : []));
}

const FATES: Readonly<Record<string, (world: World) => void>> = {
  'made anew': ({ topic }) => topic.makeAnew(),
  truncated: ({ topic }) => topic.truncate((_, endOffset) => Math.floor(endOffset / 2)),
  'cut by three records': ({ topic }) => topic.truncate((_, endOffset) => endOffset - 3),
};

for (const [fate, befall] of Object.entries(FATES)) {
  describe.each(someOf([1, 2, 3, 4]))(`a log ${fate} under three running nodes, seed %i`, (seed) => {
    test('Σ shares ≤ quota at every moment, also with one that starts right then; the same shares soon after', () => {
      const world = worldOf(seed, ['a', 'b', 'c']);
      drive(world, ['a', 'b', 'c', 'y'], (at) => 250 + 100 * (at % 3));
      world.runFor(20_000);
      befall(world);
      world.runFor(world.random.between(0, 20));
      world.start('y');
      expectKept(world, 10_000);
      for (const name of ['a', 'b', 'c']) {
        expect(settledAfterMs(world.node(name))).toHaveLength(1);
        expect(settledAfterMs(world.node(name))[0]).toBeLessThanOrEqual(ROUND_TRIP_MS);
      }
      expectSameShares(world);
      // The newcomer has its part: nobody looks idle in the new log.
      for (const group of NAMES.keys()) {
        expect(appliedOf(world.node('y'), group * DIRECTION_COUNT)).toBeGreaterThan(100);
      }
    });

    test('one that has died in the old log holds the others for one staleness, and no longer', () => {
      const world = worldOf(seed, ['a', 'b', 'c']);
      drive(world, ['a', 'b', 'c'], () => 400);
      world.runFor(15_000);
      world.node('c').crash();
      befall(world);
      expectKept(world, STALENESS_MS + 10_000);
      for (const name of ['a', 'b']) {
        const [afterMs] = settledAfterMs(world.node(name));
        expect(afterMs).toBeLessThanOrEqual(STALENESS_MS + 2 * SETTINGS.sampleIntervalMs);
      }
      expectSameShares(world);
      for (const group of NAMES.keys()) expect(sumOf(world, group)).toBeGreaterThan(0.99 * QUOTA);
    });

    test('one that notices seconds later than the others: nobody rises before it, nor does a newcomer', () => {
      const world = worldOf(seed, ['a', 'b', 'c']);
      drive(world, ['a', 'b', 'c', 'y'], () => 400);
      world.runFor(15_000);
      world.node('c').cutOff(true, { reads: true, appends: false });
      befall(world);
      // A node that starts before c's next heartbeat cannot know of c: it may have a part for as long.
      world.runFor(SETTINGS.heartbeatMs + 10);
      world.start('y');
      const floor = QUOTA * GATED.floorRatio;
      expectKept(world, 1500, floor);
      world.node('c').cutOff(false);
      expectKept(world, 10_000, floor);
      expectSameShares(world);
    });
  });
}

test('a node that was down starts at life 1 in a log made anew, and is believed by those who knew it at life 2', () => {
  const world = worldOf(1, ['a', 'b', 'x']);
  drive(world, ['a', 'b', 'x'], () => 900);
  world.runFor(3000);
  world.node('x').crash();
  world.runFor(500);
  world.start('x');
  world.runFor(3000);
  world.node('x').crash();
  world.runFor(8000);
  world.topic.makeAnew();
  world.runFor(2000);
  world.start('x');
  expectKept(world, 30_000);
  expect(world.node('x').coordinator.incarnation).toBeLessThan(2 * 0x10000);
  expectSameShares(world);
});

test('of two running processes of one id one goes on in the new log', () => {
  const world = worldOf(2, ['a', 'b']);
  world.runFor(3000);
  world.node('a').cutOff(true);
  world.topic.makeAnew();
  const second = world.start('a', { as: 'second a' });
  world.runFor(2000);
  expect(second.coordinator.isReady).toBe(true);
  world.node('a').cutOff(false);
  world.runFor(3000);
  const phases = [world.node('a'), second].map(({ coordinator }) => coordinator.phase);
  expect(phases.sort()).toEqual(['fenced', 'ready']);
});

test('nodes that divide by an agreed pool go on with their parts, and agree again', () => {
  const world = worldOf(3, ['a', 'b', 'c'], {}, 'equal');
  drive(world, ['a', 'b', 'c'], () => 900);
  world.runFor(10_000);
  world.topic.makeAnew();
  for (let at = 0; at < 1000; at++) {
    world.runFor(5);
    for (const node of running(world)) expect(appliedOf(node, 0)).toBeCloseTo(QUOTA / 3, 9);
  }
  expectSameShares(world);
});

test('a log made anew twice in a row is one time of holding', () => {
  const world = worldOf(4, ['a', 'b', 'c']);
  drive(world, ['a', 'b', 'c'], (at) => 200 + 200 * (at % 3));
  world.runFor(15_000);
  world.topic.makeAnew();
  world.runFor(4);
  world.topic.makeAnew();
  expectKept(world, 10_000);
  expectSameShares(world);
});

test('a log that lost the burial of an earlier life fences nobody by it; two processes of one id are one again', () => {
  const world = worldOf(4, [], { stalenessMs: 2500, forgetAfterMs: 5000 });
  // The dead process has the higher nonce: its life counts as the newer one of the two that are called the first.
  world.start('a', { nonce: 1 });
  world.start('b', { nonce: 9 });
  drive(world, ['a', 'b'], () => 300);
  world.runFor(3000);
  const kept = world.topic.partitions.map(({ length }) => length);
  world.node('b').crash();
  world.runFor(12_000);
  world.start('b', { nonce: 2, compacted: true });
  world.runFor(3000);
  expect(world.node('b').coordinator.incarnation).toBe(0x10000 + 2);
  world.topic.truncate((partition) => kept[partition]);
  world.runFor(STALENESS_MS);
  expect(world.serving('b').map(({ coordinator }) => coordinator.phase)).toEqual(['ready']);
  expect(world.node('b').coordinator.incarnation).toBe(2 * 0x10000 + 2);
  expectSameShares(world);
  const twin = world.start('b', { nonce: 3 });
  world.topic.truncate((partition) => kept[partition]);
  world.runFor(STALENESS_MS);
  expect(world.serving('b')).toHaveLength(1);
  expect(twin.isRunning).toBe(true);
  expectSameShares(world);
});
