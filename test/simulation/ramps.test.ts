import { describe, expect, test } from 'vitest';
import type { TopicDelays } from '../../sim/cluster/simulated-topic.js';
import { World } from '../../sim/cluster/world.js';
import type { RampSettings } from '../../src/core/base/settings.js';
import { someOf } from '../property/seed.js';
import { GATED, GROUP, RAMP, SETTINGS } from './settings.js';

const SCHEDULED: RampSettings = { ...RAMP, mode: 'scheduled', toPerSecond: null, timeToLiveMs: 180_000 };
const NODES = ['a', 'b', 'c'];

/** Three nodes, 1,000/s in all, each asked for `rate` from 1 s on until `untilMs`; a small burst, so that seconds are exact. */
function cluster(
  ramp: Partial<RampSettings>,
  { rate = 500, untilMs = Infinity, partitions = 1, strategy = GATED.strategy } = {},
  delays?: TopicDelays,
): World {
  const group = { ...GATED, strategy, ramp: { ...SCHEDULED, ...ramp } };
  const world = new World(3, { ...SETTINGS, partitions, groups: [group] }, delays);
  for (const node of NODES) world.start(node);
  world.runFor(1000);
  for (const node of NODES) drive(world, node, rate, untilMs);
  return world;
}

function drive(world: World, node: string, rate: number, untilMs = Infinity): void {
  world.drive({ node, ratePerSecond: (nowMs) => (nowMs < untilMs ? rate : 0), evenly: true });
}

/** Admitted from one time to another, per second. */
function admitted(world: World, fromMs: number, toMs: number): number {
  const within = world.arrivals.filter(({ atMs, granted }) => granted && atMs >= fromMs && atMs < toMs);
  return (within.length * 1000) / (toMs - fromMs);
}

function ceiling(world: World, node = 'a'): number {
  const { targets, settings } = world.node(node).coordinator;
  return targets.ramps[0].ceilingOf(settings.groups[0], 0, 0);
}

describe('a ramp from 100 to 1,000 in 10 s', () => {
  test.each(someOf([1, 4]))('scheduled: followed within 5 percent in every second, %i partition(s)', (partitions) => {
    const world = cluster({}, { partitions });
    world.runFor(15_000);
    for (let second = 1; second < 10; second++) {
      const line = 100 + 90 * (second + 0.5);
      expect(
        Math.abs(admitted(world, 1000 * (second + 1), 1000 * (second + 2)) / line - 1),
        `second ${second}`,
      ).toBeLessThan(0.05);
    }
    expect(Math.abs(admitted(world, 13_000, 16_000) / 1000 - 1)).toBeLessThan(0.02);
  });

  test('scheduled, on a topic that takes a tenth of a second: late by that, and not by more every second', () => {
    const world = cluster({}, {}, { appendMs: [40, 60], deliveryMs: [20, 50] });
    world.runFor(15_000);
    const behind = [];
    for (let second = 1; second < 10; second++) {
      const line = 100 + 90 * (second + 0.5);
      behind.push((line - admitted(world, 1000 * (second + 1), 1000 * (second + 2))) / 90);
    }
    expect(Math.max(...behind)).toBeLessThan(0.25);
    expect(Math.min(...behind)).toBeGreaterThan(0);
  });

  test('nobody reports more than its share of the ceiling, at any moment', () => {
    const world = cluster({});
    for (let step = 0; step < 1000; step++) {
      world.runFor(15);
      const sum = NODES.reduce((total, node) => total + world.node(node).coordinator.shares.applied[0], 0);
      // One node may have read 5 ms more of the log than another: 0.5 of 90 per second, and reports on their way.
      expect(sum).toBeLessThanOrEqual(Math.max(...NODES.map((node) => ceiling(world, node))) * 1.01);
    }
  });
});

test.each(someOf([5500, 6000, 6500, 20_000]))(
  'go-back-n climbs after a pause of %i ms, on a partition where nobody else writes',
  (pauseMs) => {
    // Its ceiling is at the beginning again, and log time goes on with the partition's heartbeats, every 5 s.
    const world = cluster({ mode: 'go-back-n' }, { partitions: 4, untilMs: 2500 });
    world.runFor(1500 + pauseMs);
    for (const node of NODES) drive(world, node, 500);
    world.runFor(15_000);
    expect(Math.abs(admitted(world, world.nowMs - 1000, world.nowMs) / 1000 - 1)).toBeLessThan(0.02);
  },
);

describe('resume', () => {
  test('a rolling restart in the middle of the ramp: the line is followed on', () => {
    const world = cluster({ overMs: 30_000 });
    world.runFor(8000);
    for (const node of NODES) {
      world.node(node).leave();
      world.runFor(1000);
      world.start(node, { compacted: true });
      world.runFor(1500);
    }
    const line = 100 + 30 * ((world.nowMs - 1000) / 1000);
    for (const node of NODES) expect(Math.abs(ceiling(world, node) / line - 1)).toBeLessThan(0.05);
    world.runFor(1000);
    expect(Math.abs(admitted(world, world.nowMs - 1000, world.nowMs) / (line + 15) - 1)).toBeLessThan(0.05);
  });

  test('all crash and are back within the time to live: at the ceiling, not at the beginning and not at the top', () => {
    const world = cluster({ mode: 'relaxed', overMs: 20_000 });
    world.runFor(8000);
    const reached = ceiling(world);
    for (const node of NODES) world.node(node).crash();
    world.runFor(60_000);
    for (const node of NODES) world.start(node, { compacted: true });
    world.runFor(800);
    expect(ceiling(world)).toBeGreaterThanOrEqual(reached);
    // Steps keep to the seconds they had before: of 800 ms two seconds may have a part.
    expect(ceiling(world)).toBeLessThanOrEqual(reached + 2 * 45);
  });

  test('all are away for longer than the time to live: anew from the beginning', () => {
    const world = cluster({ mode: 'relaxed', timeToLiveMs: 30_000 });
    world.runFor(8000);
    for (const node of NODES) world.node(node).crash();
    world.runFor(60_000);
    for (const node of NODES) world.start(node, { compacted: true });
    world.runFor(500);
    expect(ceiling(world)).toBeLessThanOrEqual(190);
  });

  test('a jump of the log’s clock ages no ceiling', () => {
    const world = cluster({ mode: 'relaxed', timeToLiveMs: 30_000 });
    world.runFor(8000);
    const reached = ceiling(world);
    world.topic.clockOffsetMs += 3_600_000;
    world.runFor(300);
    expect(ceiling(world)).toBeGreaterThanOrEqual(reached);
  });

  test('at rest at the top for longer than the time to live: renewed while it is used, forgotten when it is not', () => {
    const world = cluster({ timeToLiveMs: 20_000 }, { untilMs: 60_000 });
    world.runFor(58_000);
    expect(ceiling(world)).toBe(1000);
    world.runFor(30_000);
    expect(ceiling(world)).toBe(100);
  });
});

describe.each(
  someOf([
    ['gates', GATED],
    ['a bucket', GROUP],
  ] as const),
)('go-back-n at the top, %s', (_, pattern) => {
  const ramp: RampSettings = { ...RAMP, mode: 'go-back-n', overMs: 5000, timeToLiveMs: 180_000 };
  const TOP_MS = 12_000;
  const PAUSE_MS = 8000;

  /** Nodes that want the quota together, each but in its pause; looks at every ceiling every 20 ms. */
  function atTop(
    nodes: readonly string[],
    pausing: readonly string[],
    partitions = 1,
  ): { world: World; least: number } {
    const world = new World(3, { ...SETTINGS, partitions, groups: [{ ...pattern, ramp }] });
    for (const node of nodes) world.start(node);
    world.runFor(1000);
    const isPause = (nowMs: number) => nowMs >= TOP_MS && nowMs < TOP_MS + PAUSE_MS;
    for (const node of nodes) {
      const ratePerSecond = (nowMs: number) => (pausing.includes(node) && isPause(nowMs) ? 0 : 1200 / nodes.length);
      world.drive({ node, ratePerSecond, evenly: true });
    }
    world.runFor(TOP_MS - 1000);
    for (const node of nodes) expect(heldBy(world, node)).toBe(1000);
    let least = Infinity;
    for (let step = 0; step < 600; step++) {
      world.runFor(20);
      for (const node of nodes) least = Math.min(least, heldBy(world, node));
    }
    return { world, least };
  }

  function heldBy(world: World, node: string): number {
    const { coordinator } = world.node(node);
    const { mapLane, partition } = coordinator.laneOf(coordinator.groupIdOf(0), 0);
    return coordinator.targets.ramps[partition].ceilingOf(coordinator.settings.groups[0], 0, mapLane);
  }

  test.each(someOf(NODES))('node %s pauses while the others go on: no pause of the group', (node) => {
    expect(atTop(NODES, [node]).least).toBe(1000);
  });

  test('all pause: the ceiling falls by half a slope for each second but the first', () => {
    const { least } = atTop(NODES, NODES);
    expect(least).toBeLessThanOrEqual(1000 - 0.5 * 180 * (PAUSE_MS / 1000 - 2));
    expect(least).toBeGreaterThanOrEqual(100);
  });

  test.each(someOf([1, 5]))('one node alone uses it all the time, %i partition(s): no pause', (partitions) => {
    expect(atTop(['a'], [], partitions).least).toBe(1000);
  });

  test('one node alone pauses', () => {
    expect(atTop(['a'], ['a']).least).toBeLessThan(1000);
  });

  test.each(someOf(NODES))('node %s starts while the others use it: no pause', (node) => {
    const { world } = atTop(NODES, []);
    world.node(node).leave();
    world.runFor(PAUSE_MS);
    world.start(node, { compacted: true });
    for (let step = 0; step < 200; step++) {
      world.runFor(20);
      for (const one of NODES) if (world.node(one).isRunning) expect(heldBy(world, one)).toBe(1000);
    }
  });
});
