import { describe, expect, test } from 'vitest';
import type { World } from '../../../sim/cluster/world.js';
import { STRATEGIES, STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';
import { someOf } from '../../property/seed.js';
import { atOnce, between, inOrder, poisson, type TokenArrival } from './arrivals.js';
import { figuresOf } from './figures.js';
import { central, mostIn, nameOf, perNode, play } from './play.js';

/** Strategies beside max-min, which the other files of this folder play, and those of them that lend. */
const ALL = STRATEGY_NAMES.filter((name) => STRATEGIES[name].meetsAll !== true);
const LENDING = ALL.filter((name) => STRATEGIES[name].agreesOnPool !== true);
const TEN = { messages: 10, bytes: null, policy: 'optimistic' } as const;
/** Nothing was tuned to it. test/long/tokens-strategies.test.ts plays eight others, up to 30 nodes and at 5 ms. */
const SEED = 9102;

/** Requests of several nodes, each at even distances from a time on. */
function steady(lengthMs: number, rates: readonly { readonly perSecond: number; readonly fromMs?: number }[]) {
  const arrivals = rates.flatMap(({ perSecond, fromMs = 0 }, node) => {
    const length = Math.floor(((lengthMs - fromMs) * perSecond) / 1000);
    return Array.from({ length }, (_, index) => ({ atMs: fromMs + (1000 * (index + 0.5)) / perSecond, node }));
  });
  return inOrder(arrivals);
}

/** What the nodes were given per second between two times. */
function ratesIn(admitted: readonly TokenArrival[], nodes: number, fromMs: number, untilMs: number): number[] {
  const counts = perNode(between(admitted, fromMs, untilMs), nodes);
  return counts.map((count) => (1000 * count) / (untilMs - fromMs));
}

const MOVING = ALL.flatMap((strategy) => [3, 10].map((nodes) => ({ strategy, nodes })));

test.each(someOf(MOVING))('$strategy: demand that moves every second at $nodes nodes, delivery in 50 ms', (given) => {
  const { strategy, nodes } = given;
  const { over5s, used, reportsPerSecond, secondBesideCentral } = figuresOf(SEED, nodes, 50, { strategy });
  expect(over5s).toBeLessThanOrEqual(0.025);
  expect(used).toBeGreaterThanOrEqual(0.99);
  expect(reportsPerSecond).toBeLessThanOrEqual(0.5);
  expect(secondBesideCentral).toBeLessThanOrEqual(0.05);
});

const SMALL = ALL.flatMap((strategy) => [
  { strategy, perSecond: 5, nodes: 3 },
  { strategy, perSecond: 10, nodes: 10 },
]);

test.each(someOf(SMALL))('$strategy: $perSecond/s on $nodes nodes is given in pieces, and used', (given) => {
  const { strategy, perSecond, nodes } = given;
  const scene = poisson(7, nodes, perSecond, 100, () => (1.5 * perSecond) / nodes);
  const { admitted } = play(scene, { idleMs: 12_000, group: { strategy } });
  // What one node of an equal split does not use is nobody's: where each wants half as much again, little.
  const least = strategy === 'equal' ? 0.9 : 0.97;
  expect(admitted.length / central(scene, 10).length).toBeGreaterThanOrEqual(least);
  expect(mostIn(admitted, 5000)).toBeLessThanOrEqual(5 * perSecond + 10 + 2);
});

/** Strategies that leave a split as it is found, which is PIP-82's usage distribution. */
const BY_USAGE = ['proportional', 'equal-residual'];

describe.each(someOf(LENDING))('%s', (strategy) => {
  test('the busy one has what the others leave within 300 ms, and the quiet are hardly refused', () => {
    const arrivals = steady(20_000, [{ perSecond: 2000, fromMs: 5000 }, { perSecond: 80 }, { perSecond: 80 }]);
    const { admitted } = play({ nodes: 3, perSecond: 1000, lengthMs: 20_000, arrivals }, { group: { strategy } });
    const [busy, ...quiet] = ratesIn(admitted, 3, 5300, 20_000);
    expect(busy).toBeGreaterThanOrEqual(0.97 * 840);
    // Where splits stay, so does the 3 % that a node is refused before its first report says that it is there.
    const least = BY_USAGE.includes(strategy) ? 0.95 : 0.98;
    for (const rate of quiet) expect(rate).toBeGreaterThanOrEqual(least * 80);
  });
});

/** Two nodes that use 800 and 200 of 1,000/s, until from 5 s on both want all of it. */
const EIGHTY_TWENTY = [
  { untilMs: 5000, rates: [800, 200] },
  { untilMs: 15_000, rates: [2000, 2000] },
];
/** Two nodes want all of 1,000/s; between 5 and 9 s the first wants 300. */
const LEFT_FOR_A_WHILE = [
  { untilMs: 5000, rates: [2000, 2000] },
  { untilMs: 9000, rates: [300, 2000] },
  { untilMs: 20_000, rates: [2000, 2000] },
];
/** The first has all of 1,000/s when the second wakes at 5 s. */
const WOKEN = [
  { untilMs: 5000, rates: [2000, 0] },
  { untilMs: 15_000, rates: [2000, 2000] },
];

/** What the two nodes of a story are given per second, in its last 5 s. */
function endOf(story: typeof WOKEN, strategy: string): number[] {
  let fromMs = 0;
  const arrivals = story.flatMap(({ untilMs, rates }) => {
    const each = rates.map((perSecond) => ({ perSecond, fromMs }));
    fromMs = untilMs;
    return steady(untilMs, each);
  });
  const scene = { nodes: 2, perSecond: 1000, lengthMs: fromMs, arrivals };
  const rates = ratesIn(play(scene, { group: { strategy } }).admitted, 2, fromMs - 5000, fromMs);
  expect(rates[0] + rates[1]).toBeGreaterThanOrEqual(0.98 * 1000);
  expect(rates[0] + rates[1]).toBeLessThanOrEqual(1.02 * 1000);
  return rates;
}

describe('splits as the sources say they are', () => {
  test.each(BY_USAGE)('%s leaves 80/20 as it is although both want more', (strategy) => {
    const [, second] = endOf(EIGHTY_TWENTY, strategy);
    expect(second).toBeGreaterThan(190);
    expect(second).toBeLessThan(210);
  });

  test.each(BY_USAGE)('%s: what one has left for a while stays with the other', (strategy) => {
    const [first] = endOf(LEFT_FOR_A_WHILE, strategy);
    expect(first).toBeGreaterThan(285);
    expect(first).toBeLessThan(315);
  });

  test.each(BY_USAGE)('%s: a node that wakes beside one that has all gets little', (strategy) => {
    const [, second] = endOf(WOKEN, strategy);
    expect(second).toBeGreaterThan(1);
    expect(second).toBeLessThan(50);
  });

  test.each(['steal-halfway', 'client-rate'])('%s gives both the same in each of these', (strategy) => {
    for (const story of [EIGHTY_TWENTY, LEFT_FOR_A_WHILE, WOKEN]) {
      const [first, second] = endOf(story, strategy);
      expect(Math.abs(first - second)).toBeLessThanOrEqual(0.02 * 1000);
    }
  });
});

describe('equal: nothing is lent', () => {
  test('one busy node of three has a third of 1,000/s, and one burst', () => {
    const arrivals = steady(30_000, [{ perSecond: 2000 }]);
    const scene = { nodes: 3, perSecond: 1000, lengthMs: 30_000, arrivals };
    const { admitted } = play(scene, { group: { strategy: 'equal' } });
    expect(admitted.length).toBeLessThanOrEqual(10_000 + 100);
    expect(admitted.length).toBeGreaterThanOrEqual(0.99 * 10_000);
  });

  test('one busy node of three has a third of 10/s in pieces, and one burst', () => {
    const arrivals = steady(60_000, [{ perSecond: 20 }]);
    const scene = { nodes: 3, perSecond: 10, lengthMs: 60_000, arrivals };
    const { admitted } = play(scene, { group: { strategy: 'equal', burst: TEN } });
    expect(admitted.length).toBeLessThanOrEqual(200 + 10);
    expect(admitted.length).toBeGreaterThanOrEqual(0.97 * 200);
  });

  test('clumps that a node may have in the long run are admitted whole', () => {
    const arrivals = Array.from({ length: 20 }, (_, turn) => atOnce(1000 * turn, turn % 3, 100)).flat();
    const scene = { nodes: 3, perSecond: 1000, lengthMs: 20_000, arrivals };
    expect(play(scene, { group: { strategy: 'equal' } }).admitted).toHaveLength(2000);
  });

  test('a node that joins while all are busy waits, and then has its part; the sum is the target', () => {
    const arrivals = steady(20_000, [{ perSecond: 2000 }, { perSecond: 2000 }, { perSecond: 2000, fromMs: 8000 }]);
    const prepare = (world: World) => {
      world.node(nameOf(2)).leave();
      world.runFor(2000);
      world.queue.after(5000, () => world.start(nameOf(2)));
    };
    const scene = { nodes: 3, perSecond: 1000, lengthMs: 20_000, arrivals };
    const { admitted } = play(scene, { group: { strategy: 'equal' }, prepare });
    const rates = ratesIn(admitted, 3, 10_000, 20_000);
    for (const rate of rates) expect(rate).toBeGreaterThanOrEqual(0.98 * 333);
    for (const rate of rates) expect(rate).toBeLessThanOrEqual(1.02 * 333.4);
    for (const rate of ratesIn(admitted, 3, 2000, 4500).slice(0, 2)) expect(rate).toBeGreaterThanOrEqual(0.98 * 500);
    expect(mostIn(admitted, 5000)).toBeLessThanOrEqual(5000 + 2 * 100);
  });
});
