import { expect, test } from 'vitest';
import { admittedRate, worstSpan } from '../../sim/cluster/measure.js';
import { World } from '../../sim/cluster/world.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { someOf } from '../property/seed.js';
import { readyCluster } from './ready-cluster.js';
import { GATED, SETTINGS } from './settings.js';

const QUOTA = 1000;
const SEEDS = someOf([1, 2, 3]);

/** Traffic begins at 100 ms. */
function cluster(seed: number, nodes: readonly string[], changes: Partial<GroupSettings> = {}): World {
  return readyCluster(seed, nodes, { ...SETTINGS, groups: [{ ...GATED, ...changes }] });
}

/** Poisson traffic at constant rates. */
function drive(world: World, rates: Readonly<Record<string, number>>): void {
  for (const [node, rate] of Object.entries(rates)) world.drive({ node, ratePerSecond: () => rate });
}

function share(world: World, id: string): number {
  return world.node(id).coordinator.shares.applied[0];
}

function worstFiveSeconds(world: World): number {
  return worstSpan(world.arrivals, 5000, 0, world.nowMs) / QUOTA;
}

test.each(SEEDS)(
  'start, seed %i: three nodes at once, each asked for more than all may have, from before they are ready',
  (seed) => {
    const world = new World(seed, { ...SETTINGS, groups: [GATED] });
    for (const id of ['a', 'b', 'c']) world.start(id);
    drive(world, { a: 1050, b: 1050, c: 1050 });
    world.runFor(10_000);
    expect(worstFiveSeconds(world)).toBeLessThanOrEqual(1.01);
    expect(admittedRate(world.arrivals, 0, 5000) / QUOTA).toBeGreaterThanOrEqual(0.99);
  },
);

test('a demand step settles within 200 ms in the median, 600 ms at the worst of 20 seeds', () => {
  const times = Array.from({ length: 20 }, (_, at) => stepTimeMs(at + 1)).sort((left, right) => left - right);
  console.log(`demand step in virtual time: median ${times[10]} ms, worst ${times[19]} ms`);
  expect(times[10]).toBeLessThanOrEqual(200);
  expect(times[19]).toBeLessThanOrEqual(600);
});

/** From the step until every share stays within 5 % of the quota of its max-min value, in steps of 10 ms. */
function stepTimeMs(seed: number): number {
  const world = cluster(seed, ['a', 'b', 'c']);
  const stepMs = 4000;
  world.drive({ node: 'a', ratePerSecond: (nowMs) => (nowMs < stepMs ? 1500 : 20) });
  world.drive({ node: 'b', ratePerSecond: (nowMs) => (nowMs < stepMs ? 20 : 1500) });
  drive(world, { c: 20 });
  world.runFor(stepMs - world.nowMs);
  let settledMs = 0;
  for (let elapsedMs = 10; elapsedMs <= 1500; elapsedMs += 10) {
    world.runFor(10);
    const off = Math.max(
      Math.abs(share(world, 'a') - 20),
      Math.abs(share(world, 'b') - 960),
      Math.abs(share(world, 'c') - 20),
    );
    if (off > 0.05 * QUOTA) settledMs = elapsedMs + 10;
  }
  return settledMs;
}

test('a joiner lifts no second over 1.10', () => {
  const world = cluster(4, ['a', 'b', 'c']);
  drive(world, { a: 600, b: 600, c: 600, d: 600 });
  world.runFor(3000);
  world.start('d');
  world.runFor(3000);
  expect(worstSpan(world.arrivals, 1000, 1000, world.nowMs) / QUOTA).toBeLessThanOrEqual(1.1);
  expect(admittedRate(world.arrivals, 4000, 6000, 'd')).toBeGreaterThan(225);
});

test.each([0.5, 0.1, 2, 10])(
  'a quota × %f: every second within 1.10 of what was granted in it, and used within one',
  (factor) => {
    const world = cluster(7, ['a', 'b', 'c']);
    drive(world, { a: 6000, b: 6000, c: 6000 });
    world.runFor(3000);
    const changedMs = world.nowMs;
    const after = QUOTA * factor;
    world.changeGroup(0, { ...GATED, quota: { ...GATED.quota, publish: [after, Infinity] } });
    world.runFor(4000);
    const granted = world.arrivals.filter((arrival) => arrival.granted && arrival.atMs >= changedMs - 1000);
    for (let fromMs = changedMs - 1000; fromMs <= changedMs + 2000; fromMs += 10) {
      const before = Math.max(0, changedMs - fromMs) / 1000;
      const allowed = fromMs >= changedMs ? after : QUOTA * before + after * (1 - before);
      expect(admittedRate(granted, fromMs, fromMs + 1000) / allowed).toBeLessThanOrEqual(1.1);
    }
    expect(admittedRate(world.arrivals, changedMs + 100, changedMs + 4000) / after).toBeGreaterThanOrEqual(0.98);
  },
);

test('a clean leave frees the share within 200 ms, a death within staleness + 1 s', () => {
  const world = cluster(5, ['a', 'b', 'c']);
  drive(world, { a: 700, b: 700, c: 700 });
  world.runFor(3000);
  world.node('c').leave();
  world.runFor(200);
  expect(share(world, 'a') + share(world, 'b')).toBeCloseTo(QUOTA, 3);
  world.runFor(2000);
  world.node('b').crash();
  world.runFor(SETTINGS.stalenessMs + 1000);
  expect(share(world, 'a')).toBeCloseTo(700 + 0.999 * (QUOTA - 700), -1);
});

test('clients that hold refused work back use the whole quota, wherever they are', () => {
  const world = cluster(10, ['a', 'b', 'c']);
  world.hold({ node: 'a', count: () => 64, retryMs: 25, thinkMs: 0.1 });
  world.hold({ node: 'b', count: () => 2, retryMs: 25, thinkMs: 50 });
  world.runFor(10_000);
  const total = admittedRate(world.arrivals, 3000, 10_000) / QUOTA;
  console.log(`held back clients: ${(100 * total).toFixed(1)} % of the quota`);
  expect(total).toBeGreaterThanOrEqual(0.97);
  expect(total).toBeLessThanOrEqual(1.01);
});

test('messages and bytes bind alternately: the tighter one is used up, neither is exceeded', () => {
  const world = cluster(11, ['a', 'b'], { quota: { ...GATED.quota, publish: [1000, 100_000] } });
  world.drive({ node: 'a', ratePerSecond: () => 1500, bytes: 50 });
  world.drive({ node: 'b', ratePerSecond: () => 300, bytes: 1000 });
  world.runFor(15_000);
  const events = world.arrivals.filter(({ atMs, granted }) => granted && atMs >= 5000);
  const bytesPerSecond = events.reduce((sum, { bytes }) => sum + bytes, 0) / 10;
  console.log(`jointly: ${events.length / 10} messages/s of 1000, ${bytesPerSecond} bytes/s of 100000`);
  expect(events.length / 10 / 1000).toBeLessThanOrEqual(1.02);
  expect(bytesPerSecond / 100_000).toBeLessThanOrEqual(1.02);
  expect(Math.max(events.length / 10 / 1000, bytesPerSecond / 100_000)).toBeGreaterThanOrEqual(0.97);
});

test.each([1, 10])('a quota of %i/s over three nodes: sane bounds', (quota) => {
  const world = cluster(12, ['a', 'b', 'c'], { quota: { ...GATED.quota, publish: [quota, Infinity] } });
  drive(world, { a: 50, b: 50, c: 50 });
  world.runFor(60_000);
  const rate = admittedRate(world.arrivals, 10_000, 60_000);
  console.log(
    `quota ${quota}/s: ${rate.toFixed(2)}/s admitted, worst second ${worstSpan(world.arrivals, 1000, 100, 60_000)}`,
  );
  expect(rate / quota).toBeGreaterThan(0.9);
  expect(rate / quota).toBeLessThan(1.05);
});
