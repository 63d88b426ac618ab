import { describe, expect, test } from 'vitest';
import { admittedRate, worstSpan } from '../../sim/cluster/measure.js';
import { World } from '../../sim/cluster/world.js';
import { someOf } from '../property/seed.js';
import { GATED, GROUP, SETTINGS } from './settings.js';

/** The deterministic twin of test/cluster/pools-story.ts. */
const QUOTA = 900;
const GROUPS = [{ ...GATED, strategy: 'equal', quota: { ...GROUP.quota, publish: [QUOTA, Infinity] as const } }];
const WINDOW_MS = 5000;
const SETTLED_MS = 6000;

function start(world: World, node: string, evenly: boolean): void {
  world.start(node, { compacted: true });
  world.drive({ node, ratePerSecond: () => 1000, evenly });
}

/** Least and most of any window of the span, as parts of the quota. */
function anyWindow(world: World, fromMs: number, toMs: number): { least: number; most: number } {
  const rates: number[] = [];
  for (let at = fromMs; at + WINDOW_MS <= toMs; at += 25) rates.push(admittedRate(world.arrivals, at, at + WINDOW_MS));
  return { least: Math.min(...rates) / QUOTA, most: Math.max(...rates) / QUOTA };
}

describe.each([1, 4])('1 → 3 → 2 → 1 nodes of strategy equal under more than the quota, seed %i', (seed) => {
  test.each(
    someOf([
      { evenly: true, partitions: 1 },
      { evenly: false, partitions: 1 },
      { evenly: false, partitions: 4 },
    ]),
  )('%o', ({ evenly, partitions }) => {
    const world = new World(seed, { ...SETTINGS, partitions, groups: GROUPS });
    const phases: { least: number; most: number }[] = [];
    const settled = (agreedMs: number) => {
      world.runFor(agreedMs);
      const fromMs = world.nowMs;
      world.runFor(SETTLED_MS);
      phases.push(anyWindow(world, fromMs, world.nowMs));
    };
    start(world, 'a', evenly);
    settled(1000);
    start(world, 'b', evenly);
    start(world, 'c', evenly);
    settled(1000);
    world.node('c').leave();
    settled(1000);
    world.node('b').crash();
    settled(6000);
    for (const { least, most } of phases) {
      expect(least).toBeGreaterThanOrEqual(0.98);
      expect(most).toBeLessThanOrEqual(1.02);
    }
    const worst = (windowMs: number) => worstSpan(world.arrivals, windowMs, 0, world.nowMs) / QUOTA;
    expect(worst(WINDOW_MS)).toBeLessThanOrEqual(1.02);
    expect(worst(1000)).toBeLessThanOrEqual(1.1);
  });
});
