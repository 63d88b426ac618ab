import { describe, expect, test } from 'vitest';
import type { World } from '../../../sim/cluster/world.js';
import { clusterDepth } from '../../../src/core/account/cluster-depth.js';
import type { RampSettings } from '../../../src/core/base/settings.js';
import { someOf } from '../../property/seed.js';
import { RAMP } from '../settings.js';
import { between, poisson } from './arrivals.js';
import { nameOf, type PlayOptions, play, watched } from './play.js';

const FROM = 100;
const TOP = 1000;
const SLOPE = 90;

interface Asked extends PlayOptions {
  readonly ramp?: Partial<RampSettings>;
  readonly seconds?: number;
  /** What all nodes together are asked for, per second. */
  readonly rateOf?: (atMs: number) => number;
}

/** Three nodes, 1,000/s in all, a ramp from 100 in 10 s; `given` is the ceiling as the first node knew it. */
function climb({ ramp = {}, seconds = 14, rateOf = () => 1500, ...options }: Asked) {
  const scene = poisson(7, 3, TOP, seconds, (atMs) => rateOf(atMs) / 3);
  const climbing = { ...RAMP, toPerSecond: null, timeToLiveMs: 180_000, ...ramp };
  let given = (_fromMs: number, _toMs: number) => 0;
  const prepare = (world: World) => {
    given = watched(world, () => ceiling(world));
  };
  const played = play(scene, { ...options, prepare, group: { ...options.group, ramp: climbing } });
  return { ...played, given };
}

function ceiling(world: World, node = 0): number {
  const { coordinator } = world.node(nameOf(node));
  const { mapLane, partition } = coordinator.laneOf(coordinator.groupIdOf(0), 0);
  return coordinator.targets.ramps[partition].ceilingOf(coordinator.settings.groups[0], 0, mapLane);
}

/** A line from 100 to 1,000. */
function line(fromMs: number, toMs: number): number {
  const at = (ms: number) => Math.min(TOP, FROM + (SLOPE * ms) / 1000);
  let sum = 0;
  for (let ms = fromMs; ms < toMs; ms += 10) sum += (at(ms) + at(ms + 10)) / 200;
  return sum;
}

describe.each(someOf([5, 50, 200]))('a ramp from 100 to 1,000 in 10 s, contended, delivery in %i ms', (deliveryMs) => {
  test.each([
    ['scheduled', 1],
    ['scheduled', 4],
    ['relaxed', 1],
    ['only-if-used', 1],
    ['go-back-n', 1],
  ] as const)(
    '%s, %i partition(s): any span holds the ceiling and three depths, and the ceiling is used',
    (mode, partitions) => {
      const { admitted, given, world } = climb({ ramp: { mode }, deliveryMs, settings: { partitions } });
      for (let fromMs = 0; fromMs < 9_000; fromMs += 500) {
        for (const spanMs of [500, 1000, 5000]) {
          const over = between(admitted, fromMs, fromMs + spanMs).length - given(fromMs, fromMs + spanMs);
          const depths = fromMs === 0 ? 3 * clusterDepth(FROM, 1) : clusterDepth(ceiling(world), 1);
          expect(over, `${spanMs} ms from ${fromMs}`).toBeLessThanOrEqual(depths);
          // Nor is the ceiling itself ahead of the line.
          expect(given(fromMs, fromMs + spanMs)).toBeLessThanOrEqual(line(fromMs, fromMs + spanMs) + SLOPE / 2);
        }
      }
      const used = between(admitted, 1000, 12_000).length / given(1000, 12_000);
      console.log(`${mode}, ${deliveryMs} ms, ${partitions}: ${(100 * used).toFixed(1)} % of what the ceiling gave`);
      expect(used).toBeGreaterThan(0.97);
      expect(used).toBeLessThan(1.02);
      expect(ceiling(world)).toBeGreaterThanOrEqual(TOP - SLOPE);
    },
  );
});

describe('what makes it climb', () => {
  test.each(['only-if-used', 'go-back-n'] as const)(
    '%s climbs where 60 percent of the ceiling are wanted, which is so far from the quota that nobody had to say it',
    (mode) => {
      const { world } = climb({ ramp: { mode }, rateOf: (atMs) => 0.6 * Math.min(TOP, FROM + (SLOPE * atMs) / 1000) });
      expect(ceiling(world)).toBeGreaterThanOrEqual(TOP - 2 * SLOPE);
    },
  );

  test('only-if-used stays where a fifth of it is wanted', () => {
    const { world } = climb({ ramp: { mode: 'only-if-used', overMs: 100_000 }, rateOf: () => 20 });
    expect(ceiling(world)).toBeLessThan(150);
  });

  test.each(['relaxed', 'scheduled'] as const)('%s climbs though nobody reports anything', (mode) => {
    const { world, reportsPerSecond } = climb({ ramp: { mode }, rateOf: () => 30 });
    expect(ceiling(world)).toBeGreaterThanOrEqual(TOP - SLOPE);
    expect(reportsPerSecond).toBeLessThan(0.2);
  });
});

describe('a burst of two seconds of the quota', () => {
  const group = { burst: { messages: 2000, bytes: null, policy: 'optimistic' } } as const;

  test('gives a cold backend two seconds of the beginning, thrice at most, and not of the quota', () => {
    const { admitted } = climb({ group, rateOf: (atMs) => (atMs < 100 ? 100_000 : 0) });
    expect(admitted.length).toBeGreaterThanOrEqual(200);
    expect(admitted.length).toBeLessThanOrEqual(3 * 200 + 20);
  });

  test('is there whole at the top, and after the ceiling is forgotten it is small again', () => {
    const ramp = { timeToLiveMs: 10_000 };
    const clump = (atMs: number, beginMs: number) => atMs >= beginMs && atMs < beginMs + 50;
    const rateOf = (atMs: number) => (atMs < 12_000 ? 50 : clump(atMs, 16_000) || clump(atMs, 40_000) ? 200_000 : 0);
    const { admitted } = climb({ group, ramp, seconds: 42, rateOf });
    expect(between(admitted, 16_000, 20_000).length).toBeGreaterThanOrEqual(2000);
    expect(between(admitted, 16_000, 20_000).length).toBeLessThanOrEqual(6000 + 100);
    expect(between(admitted, 40_000, 42_000).length).toBeLessThanOrEqual(3 * 200 + 100);
  });
});
