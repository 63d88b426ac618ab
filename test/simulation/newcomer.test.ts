import { describe, expect, test } from 'vitest';
import { World, type WorldSettings } from '../../sim/cluster/world.js';
import { nodeKeyOf } from '../../src/core/base/ids.js';
import type { ReadEvent } from '../../src/core/base/protocol/events-and-effects.js';
import { nodeRecordKey } from '../../src/core/base/protocol/record.js';
import { Follower } from '../property/follower.js';
import { someOf } from '../property/seed.js';
import { membersOf } from './ready-cluster.js';
import { GATED, SETTINGS } from './settings.js';

const SEEDS = [21, 22, 23, 24];

function settingsWith(partitions: number): WorldSettings {
  const groups = ['orders', 'mails', 'events'].map((name) => ({ ...GATED, name }));
  return { ...SETTINGS, partitions, groups };
}

/** A cluster in which nodes die, leave and come back; then one more joins. */
function livelyWorld(seed: number): World {
  const world = new World(seed, settingsWith(1 + (seed % 4)));
  const nodes = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const node of nodes) world.start(node);
  for (const node of [...nodes, 'new']) {
    for (const group of [0, 1, 2]) {
      const rates = Array.from(
        { length: 12 },
        () => world.random.between(0, 700) * (world.random.next() < 0.3 ? 0 : 1),
      );
      world.drive({ node, lane: group * 2, ratePerSecond: (nowMs) => rates[Math.floor(nowMs / 4000) % 12] });
    }
  }
  world.runFor(6000);
  world.node('a').leave();
  world.node('b').crash();
  world.runFor(world.random.between(500, 9000));
  world.start('b');
  world.node('c').crash();
  world.runFor(world.random.between(500, 5500));
  return world;
}

/** The newest record of each key, as compaction leaves it. */
function compacted(log: readonly ReadEvent[]): ReadEvent[] {
  const newest = new Map(log.map((read) => [`${read.partition}:${read.key}`, read]));
  return log.filter((read) => newest.get(`${read.partition}:${read.key}`) === read);
}

function followed(world: World, log: readonly ReadEvent[]): Follower {
  const follower = new Follower({ ...world.settings, nodeId: 'reader', nonce: 1 });
  for (const read of log) follower.read(read);
  return follower;
}

function shareOf(follower: Follower, nodeId: string): number[] {
  return follower.shares().map(({ nodes, shares }) => shares[0]?.[nodes.indexOf(nodeId)]);
}

describe.each(someOf(SEEDS))('a newcomer on the compacted log, seed %i', (seed) => {
  test('never takes more for itself than those with the whole history give it, and agrees after one staleness', () => {
    const world = livelyWorld(seed);
    const newcomer = world.start('new', { compacted: true });
    world.runFor(300);
    expect(newcomer.coordinator.isReady).toBe(true);
    const joinedAt = world.topic.log.findIndex((read) => read.key === nodeRecordKey(newcomer.coordinator.nodeKey));
    const before = compacted(world.topic.log.slice(0, joinedAt));
    for (let second = 0; second < 8; second++) {
      const late = followed(world, [...before, ...world.topic.log.slice(joinedAt)]);
      const whole = followed(world, world.topic.log);
      const given = shareOf(whole, 'new');
      shareOf(late, 'new').forEach((share, lane) => {
        expect(share, `lane ${lane} after ${second} s`).toBeLessThanOrEqual(given[lane] * (1 + 1e-9));
      });
      if (second >= 6) expect(late.shares()).toEqual(whole.shares());
      world.runFor(1000);
    }
  });
});

test('a node that is buried while a newcomer still believes in it is believed when it comes back at life 1', () => {
  const settings = { ...settingsWith(1), stalenessMs: 2500, forgetAfterMs: 5000, heartbeatMs: 500 };
  // The node with the lowest key buries the others.
  const byKey = (left: string, right: string) => nodeKeyOf(settings.cluster, left) - nodeKeyOf(settings.cluster, right);
  const names = ['a', 'b', 'c'].sort(byKey);
  const [keeper, gone, late] = names;
  const world = new World(31, settings);
  for (const node of [keeper, gone]) world.start(node);
  world.runFor(500);
  world.node(gone).crash();
  world.runFor(500);
  world.start(gone);
  world.runFor(1000);
  expect(world.node(gone).coordinator.incarnation).toBeGreaterThan(2 * 0x10000);
  world.node(gone).crash();
  // Shortly before it is buried. The compacted log does not say how long it has been silent.
  world.runFor(4500);
  const newcomer = world.start(late, { compacted: true });
  world.runFor(200);
  expect(membersOf(newcomer)).toEqual(['a', 'b', 'c']);
  world.runFor(2500);
  world.start(gone, { compacted: true });
  world.runFor(2000);
  expect(world.node(gone).coordinator.incarnation).toBeLessThan(2 * 0x10000);
  for (const node of names) expect(membersOf(world.node(node)), node).toEqual(['a', 'b', 'c']);
});
