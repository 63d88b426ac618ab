import { describe, expect, test } from 'vitest';
import { admittedRate } from '../../sim/cluster/measure.js';
import type { LaneArrival, World } from '../../sim/cluster/world.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { readyCluster } from './ready-cluster.js';
import { GATED, SETTINGS } from './settings.js';

const UNLIMITED = [Infinity, Infinity] as const;
const PUBLISH = 0;
const DISPATCH = 1;

function group(changes: Partial<GroupSettings>): GroupSettings {
  return { ...GATED, ...changes };
}

function ofLane(world: World, lane: number): LaneArrival[] {
  return world.arrivals.filter((arrival) => arrival.lane === lane);
}

describe('lanes are independent', () => {
  test('publish and dispatch of a group', () => {
    const quota = { publish: [500, UNLIMITED[1]], dispatch: [200, UNLIMITED[1]] } as const;
    const world = readyCluster(41, ['a', 'b'], { ...SETTINGS, groups: [group({ quota })] });
    for (const lane of [PUBLISH, DISPATCH]) {
      world.drive({ node: 'a', lane, ratePerSecond: () => 900 });
      world.drive({ node: 'b', lane, ratePerSecond: () => 50 });
    }
    world.runFor(12_000);
    expect(admittedRate(ofLane(world, PUBLISH), 3000, 12_000) / 500).toBeCloseTo(1, 1);
    expect(admittedRate(ofLane(world, DISPATCH), 3000, 12_000) / 200).toBeCloseTo(1, 1);
    expect(admittedRate(ofLane(world, PUBLISH), 3000, 12_000, 'b')).toBeGreaterThan(45);
  });

  test('a blocked, an unlimited and a limited group beside each other', () => {
    const quotas = [[0, 0], UNLIMITED, [100, UNLIMITED[1]]] as const;
    const groups = quotas.map((publish, at) => group({ name: `g${at}`, quota: { publish, dispatch: UNLIMITED } }));
    const world = readyCluster(42, ['a', 'b', 'c'], { ...SETTINGS, groups });
    for (const node of ['a', 'b', 'c']) {
      for (const lane of [0, 2, 4]) world.drive({ node, lane, ratePerSecond: () => 300, bytes: 10 });
    }
    world.runFor(6000);
    const rates = [0, 2, 4].map((lane) => admittedRate(ofLane(world, lane), 1000, 6000));
    expect(rates[0]).toBe(0);
    expect(ofLane(world, 2).every(({ granted, atMs }) => granted || atMs < 200)).toBe(true);
    expect(rates[2]).toBeGreaterThan(95);
    expect(rates[2]).toBeLessThan(105);
  });

  test('a quota of bytes alone', () => {
    const quota = { publish: [UNLIMITED[0], 50_000], dispatch: UNLIMITED } as const;
    const world = readyCluster(43, ['a', 'b'], { ...SETTINGS, groups: [group({ quota })] });
    world.drive({ node: 'a', ratePerSecond: () => 2000, bytes: 100 });
    world.drive({ node: 'b', ratePerSecond: () => 50, bytes: 100 });
    world.runFor(23_000);
    // Over 20 s: within 5 s chance alone moves what node b asks for by 3 % of the quota.
    const bytes = world.arrivals.filter(({ granted, atMs }) => granted && atMs >= 3000).length * 100;
    expect(bytes / 20 / 50_000).toBeGreaterThan(0.97);
    expect(bytes / 20 / 50_000).toBeLessThan(1.03);
    expect(admittedRate(world.arrivals, 3000, 23_000, 'b')).toBeGreaterThan(45);
  });
});

test('weights: who weighs three times as much gets three times as much', () => {
  const world = readyCluster(44, ['a', 'b', 'c'], { ...SETTINGS, groups: [group({ weights: { a: 3 } })] });
  for (const node of ['a', 'b', 'c']) world.drive({ node, ratePerSecond: () => 1500 });
  world.runFor(8000);
  expect(admittedRate(world.arrivals, 3000, 8000, 'a')).toBeCloseTo(600, -1.5);
  expect(admittedRate(world.arrivals, 3000, 8000, 'b')).toBeCloseTo(200, -1.5);
});

test('100 groups on four partitions: each has its quota, and no more', () => {
  const groups = Array.from({ length: 100 }, (_, at) => {
    return group({ name: `group-${at}`, quota: { publish: [30 + at / 2, UNLIMITED[1]], dispatch: UNLIMITED } });
  });
  const world = readyCluster(45, ['a', 'b', 'c'], { ...SETTINGS, partitions: 4, groups });
  groups.forEach((_, at) => {
    for (const node of ['a', 'b', 'c']) {
      world.drive({ node, lane: at * 2, ratePerSecond: () => (30 + at / 2) * (node === 'a' ? 1 : 0.2) });
    }
  });
  world.runFor(4900);
  const granted = new Array<number>(100).fill(0);
  const asked = new Array<number>(100).fill(0);
  for (const { lane, atMs, granted: isGranted } of world.arrivals) {
    if (atMs < 2000) continue;
    asked[lane / 2]++;
    if (isGranted) granted[lane / 2]++;
  }
  const parts = granted.map((count, at) => count / Math.min((30 + at / 2) * 3, asked[at]));
  const mean = parts.reduce((sum, part) => sum + part, 0) / 100;
  console.log(
    `100 groups: mean ${mean.toFixed(3)}, least ${Math.min(...parts).toFixed(3)}, most ${Math.max(...parts).toFixed(3)} of min(quota, demand)`,
  );
  expect(mean).toBeGreaterThan(0.9);
  expect(Math.min(...parts)).toBeGreaterThan(0.5);
  expect(Math.max(...parts)).toBeLessThan(1.2);
});
