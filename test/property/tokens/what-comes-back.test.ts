import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { World } from '../../../sim/cluster/world.js';
import { setPointOf } from '../../../src/core/account/cluster-bucket.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { laneOf, UNLIMITED } from '../../../src/core/base/vocabulary.js';
import type { Hold } from '../../../src/core/limiter/held-tokens.js';
import { GRANTED } from '../../../src/core/limiter/limiter.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

const LANE = laneOf(0, 0);
const TOGETHER = 3;

function worldOf(perSecond: number, depth: number, nodes: number, seed: number, isOfCosts = false): World {
  const quota = { publish: [isOfCosts ? Infinity : perSecond, Infinity] as const, dispatch: UNLIMITED };
  const cost = isOfCosts ? { ...GROUP.cost, publish: { total: perSecond, reserved: 0 } } : GROUP.cost;
  const group: GroupSettings = { ...GROUP, quota, cost, burst: { ...GROUP.burst, messages: depth } };
  const world = new World(seed, { ...SETTINGS, groups: [group] }, { appendMs: [1, 3], deliveryMs: [1, 8] });
  for (let at = 0; at < nodes; at++) world.start(`n${at}`);
  world.runFor(2000);
  for (let at = 0; at < nodes; at++) world.ask(`n${at}`, LANE, 1, 0, false);
  world.runFor(200);
  return world;
}

/** Reserves, and returns what cancels it, or null. */
function reserved(world: World, name: string, units: number): (() => void) | null {
  const { limiter, nowMs } = world.node(name);
  if (limiter.reserve(LANE, units, 0, nowMs) !== GRANTED) return null;
  const hold: Hold = limiter.buckets.hold(LANE, units, 0);
  return () => {
    hold.end(units, 0, world.node(name).nowMs);
    limiter.endReserved(LANE, units, 0);
  };
}

test.each([
  { perSecond: 20, depth: 1000, nodes: 1 },
  { perSecond: 20, depth: 1000, nodes: 3 },
  { perSecond: 1 / 60, depth: 60, nodes: 3 },
  { perSecond: 20, depth: 1000, nodes: 1, isOfCosts: true },
  { perSecond: 20, depth: 1000, nodes: 3, isOfCosts: true },
])('$perSecond/s, $depth deep, $nodes nodes: what is cancelled may be spent at once', (scene) => {
  const { perSecond, depth, nodes, isOfCosts } = scene;
  const world = worldOf(perSecond, depth, nodes, 5, isOfCosts);
  const cancel = reserved(world, 'n0', Math.floor(0.9 * depth));
  expect(cancel).not.toBeNull();
  world.runFor(2000);
  cancel!();
  let got = 0;
  for (let at = 0; at < 15; at++) {
    world.runFor(100);
    while (world.ask('n0', LANE, 1, 0, false)) got++;
  }
  expect(got).toBeGreaterThanOrEqual(Math.floor(0.9 * depth) - 1);
});

const ROUND_MS = 20;

test.each([
  { perSecond: 20, depth: 1000, nodes: 1, isOfCosts: false },
  { perSecond: 20, depth: 1000, nodes: 1, isOfCosts: true },
  { perSecond: 20, depth: 1000, nodes: 3, isOfCosts: false },
  { perSecond: 20, depth: 1000, nodes: 3, isOfCosts: true },
])('$perSecond/s, $nodes nodes, of costs: $isOfCosts: what is cancelled is back two rounds later', (scene) => {
  const { perSecond, depth, nodes, isOfCosts } = scene;
  const setPoint = setPointOf({ perSecond, depth, pieceOfEach: 0 });
  for (const heldRounds of [1, 2, 4, 16]) {
    const world = worldOf(perSecond, depth, nodes, 5, isOfCosts);
    world.runFor(12_000);
    const cancel = reserved(world, 'n0', depth / 2);
    world.runFor(heldRounds * ROUND_MS);
    cancel!();
    world.runFor(2 * ROUND_MS);
    const { limiter, nowMs } = world.node('n0');
    expect(limiter.available(LANE, 0, nowMs), `${heldRounds}`).toBeGreaterThanOrEqual(depth / 2 - setPoint);
  }
});

test.each([1, 3])(
  'a reservation of a group at rest is charged in the next round, and flows in again: %i nodes',
  (nodes) => {
    const [perSecond, depth] = [1000, 100];
    const setPoint = setPointOf({ perSecond, depth, pieceOfEach: 0 });
    const world = worldOf(perSecond, depth, nodes, 5);
    world.runFor(20_000);
    expect(reserved(world, 'n0', depth / 2)).not.toBeNull();
    world.runFor(2 * ROUND_MS);
    if (nodes > 1) expect(world.ask('n1', LANE, depth, 0, false)).toBe(false);
    world.runFor(100 + 3 * ROUND_MS);
    const { limiter, nowMs } = world.node('n0');
    expect(limiter.available(LANE, 0, nowMs)).toBeGreaterThanOrEqual(depth - setPoint);
  },
);

test('what is held for a minute and cancelled one by one is no bank, at one node or at three', () => {
  for (const nodes of [1, 3]) {
    const draw = new Random(nodes);
    const [perSecond, depth] = [300, 52];
    const world = worldOf(perSecond, depth, nodes, nodes);
    const held: { readonly node: string; readonly cancel: () => void }[] = [];
    for (let ms = 0; ms < 20_000; ms += 20) {
      const node = `n${Math.floor(draw.next() * nodes)}`;
      const cancel = reserved(world, node, 10);
      if (cancel !== null) held.push({ node, cancel });
      world.runFor(20);
    }
    expect(held.length).toBeGreaterThan(300);
    let [excess, most] = [0, 0];
    for (const { node, cancel } of held) {
      cancel();
      while (world.ask(node, LANE, 1, 0, false)) excess++;
      most = Math.max(most, excess);
      world.runFor(5);
      excess = Math.max(0, excess - perSecond * 0.005);
    }
    expect(most).toBeLessThanOrEqual(TOGETHER * depth + 0.15 * perSecond + 2 * nodes);
  }
});
