import { describe, expect, test } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { GROUP, SETTINGS } from './settings.js';

const QUOTA = 1000;

/** Three nodes with even arrivals; on one partition, or the group's is not the membership partition. */
function cluster(changes: Partial<GroupSettings>, rates: Readonly<Record<string, number>>, partitions = 1): World {
  const world = new World(5, { ...SETTINGS, partitions, groups: [{ ...GROUP, ...changes }] });
  for (const node of Object.keys(rates)) world.start(node);
  world.runFor(100);
  for (const [node, rate] of Object.entries(rates)) world.drive({ node, ratePerSecond: () => rate, evenly: true });
  return world;
}

function share(world: World, node: string): number {
  return world.node(node).coordinator.shares.applied[0];
}

function sumOf(world: World): number {
  return [...world.nodes.keys()].reduce((sum, node) => sum + share(world, node), 0);
}

function reportsSince(world: World, fromMs: number): number {
  return world.topic.log.filter(({ appendMs, record }) => appendMs >= fromMs && record?.kind === 'report').length;
}

const FAIR = { a: 700, b: 200, c: 100 };

/** Shares of b, sampled every 100 ms, after its demand rises from 100/s to 2,000/s while a holds 900. */
function risingShares(changes: Partial<GroupSettings>, partitions: number, durationMs: number): number[] {
  const world = cluster(changes, { a: 2000, c: 100 }, partitions);
  world.start('b');
  world.drive({ node: 'b', ratePerSecond: (nowMs) => (nowMs < 8000 ? 100 : 2000), evenly: true });
  world.runFor(8000 - world.nowMs);
  return Array.from({ length: durationMs / 100 }, () => {
    world.runFor(100);
    expect(sumOf(world)).toBeLessThanOrEqual(QUOTA * 1.03);
    return share(world, 'b');
  });
}

describe.each([1, 3])('the way to a new share, %i partition(s)', (partitions) => {
  test('smoothing: 63 % of it after its time, 95 % after three times, and then rest', () => {
    const shares = risingShares({ smoothingMs: 2000 }, partitions, 12_000);
    const part = (ms: number) => (shares[ms / 100 - 1] - 100) / 350;
    console.log(`smoothing 2 s: ${[1000, 2000, 4000, 6000].map((ms) => part(ms).toFixed(2)).join(', ')}`);
    expect(part(2000)).toBeGreaterThan(0.5);
    expect(part(2000)).toBeLessThan(0.72);
    expect(part(6000)).toBeGreaterThan(0.9);
    expect(Math.abs((shares.at(-1) as number) / 450 - 1)).toBeLessThan(0.02);
    shares.forEach((now, at) => {
      expect(now).toBeGreaterThanOrEqual(0.99 * shares[Math.max(0, at - 1)]);
    });
  });

  test('slew limit: never faster, and there in the end', () => {
    const shares = risingShares({ slewPerSecond: 0.1 }, partitions, 7000);
    shares.forEach((now, at) => {
      // Steps come with reports and heartbeats, so a sample may hold what was due in the second before it.
      if (at >= 10) expect(now - shares[at - 10]).toBeLessThanOrEqual(0.1 * QUOTA * 2);
    });
    expect(shares[19] - 100).toBeLessThanOrEqual(0.1 * QUOTA * 2.1);
    expect(shares[19] - 100).toBeGreaterThan(0.1 * QUOTA * 1.2);
    expect(Math.abs((shares.at(-1) as number) / 450 - 1)).toBeLessThan(0.02);
  });
});

test.each([{ smoothingMs: 2000 }, { slewPerSecond: 0.1 }])('%j: a node that was at rest moves no faster', (changes) => {
  const world = cluster(changes, { a: 700, b: 2000, c: 100 });
  world.runFor(12_000);
  const before = share(world, 'b');
  world.node('a').leave();
  world.runFor(300);
  expect(before).toBeLessThan(460);
  expect(share(world, 'b') - before).toBeLessThanOrEqual(0.3 * (900 - before));
  world.runFor(12_000);
  expect(share(world, 'b')).toBeGreaterThan(800);
});

test.each(['smoothingMs', 'slewPerSecond'])('%s: nothing is reported at rest', (name) => {
  const world = cluster({ [name]: name === 'smoothingMs' ? 1000 : 0.2 }, { a: 2000, b: 200, c: 100 });
  world.runFor(60_000);
  const restsMs = world.nowMs;
  world.runFor(30_000);
  expect(reportsSince(world, restsMs)).toBe(0);
  for (const [node, fair] of Object.entries(FAIR)) expect(Math.abs(share(world, node) / fair - 1)).toBeLessThan(0.03);
});
