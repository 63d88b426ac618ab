import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import type { World } from '../../../sim/cluster/world.js';
import { NO_BACKEND } from '../../../src/core/target/cost-meter.js';
import { someOf } from '../../property/seed.js';
import { GROUP } from '../settings.js';
import { poisson, type TokenArrival } from './arrivals.js';
import { nameOf, play } from './play.js';

const TOTAL = 1000;
const NODES = 3;

interface Spent extends TokenArrival {
  readonly cost: number;
}

interface Asked {
  readonly deliveryMs: number;
  readonly costOf: (random: Random, atMs: number) => number;
  /** How long it takes until a cost is known. */
  readonly knownAfterMs?: number;
  readonly seed?: number;
}

/** Three nodes with 1,000 units of cost and 2,000 requests per second; each that is admitted says what it has cost. */
function spend({ deliveryMs, costOf, knownAfterMs = 20, seed = 1 }: Asked): readonly Spent[] {
  const random = Random.stream(seed, 'costs');
  const spent: Spent[] = [];
  const unlimited = [Infinity, Infinity] as const;
  const quota = { publish: unlimited, dispatch: unlimited };
  const cost = { ...GROUP.cost, publish: { total: TOTAL, reserved: 0 } };
  const group = { quota, cost, expectedCost: 1 } as const;
  const scene = poisson(seed, NODES, 1, 60, () => 2000 / NODES);
  const onAdmitted = (world: World, arrival: TokenArrival) => {
    const units = costOf(random, arrival.atMs);
    spent.push({ ...arrival, cost: units });
    world.queue.after(knownAfterMs, () => {
      const { coordinator, nowMs } = world.node(nameOf(arrival.node));
      coordinator.costs.report(0, NO_BACKEND, units, 1, nowMs);
    });
  };
  play(scene, { deliveryMs, group, onAdmitted });
  return spent;
}

/** The most units that were spent in any span of this length. */
function mostSpentIn(spent: readonly Spent[], spanMs: number): number {
  let [first, sum, most] = [0, 0, 0];
  spent.forEach(({ atMs, cost }) => {
    sum += cost;
    while (spent[first].atMs <= atMs - spanMs) sum -= spent[first++].cost;
    most = Math.max(most, sum);
  });
  return most;
}

function spentPerSecond(spent: readonly Spent[], fromMs: number, toMs: number): number {
  const units = spent.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((sum, { cost }) => sum + cost, 0);
  return (1000 * units) / (toMs - fromMs);
}

function median([...values]: readonly number[]): number {
  return values.sort((one, other) => one - other)[values.length >> 1];
}

const SCENES: [string, Asked['costOf']][] = [
  ['all cost 5', () => 5],
  ['one in ten costs 41, the others 1', (random) => (random.next() < 0.1 ? 41 : 1)],
  ['1, and 10 from 20 s on', (_, atMs) => (atMs < 20_000 ? 1 : 10)],
  ['10, and 1 from 20 s on', (_, atMs) => (atMs < 20_000 ? 10 : 1)],
  ['1 and 10 in turn, 3 s each', (_, atMs) => (atMs % 6000 < 3000 ? 1 : 10)],
];

/** Most over 5 s and over 20 s, and used from 5 s on, as parts of the quota. */
interface Kept {
  readonly five: number;
  readonly twenty: number;
  readonly used: readonly [least: number, most: number];
}

/** The median of three runs: a step gives 1.15 to 1.87 over 5 s, by how long before the next look at the costs it comes. */
const NEAR: Kept = { five: 1.6, twenty: 1.2, used: [0.97, 1.07] };
/**
 * A debt is a second of the target at most. With news that takes 100 ms, ten times the cost is more than that: what is
 * beyond it is forgiven every time the cost rises.
 */
const FAR: Kept = { five: 1.6, twenty: 1.25, used: [0.97, 1.1] };

/** Used in the ten seconds after a step: of 32 runs 0.79 to 0.97, by how long before the next look the step comes. */
const AFTER_A_STEP = { least: 0.75, mean: 0.87 };

const PLAYED = SCENES.flatMap(([says, costOf]) => [
  { says, costOf, deliveryMs: 5, kept: NEAR },
  { says, costOf, deliveryMs: 50, kept: FAR },
]);

/** Where costs do not change with time, chance has no part in it. */
test.each(someOf(PLAYED))(
  'a cost quota of 1,000/s, requests: $says, known after 20 ms, delivery in $deliveryMs ms: kept and used while the average follows',
  ({ costOf, deliveryMs, kept }) => {
    const seeds = costOf.length < 2 ? [1] : [1, 2, 3];
    const runs = seeds.map((seed) => spend({ costOf, deliveryMs, seed }));
    const [five, twenty] = [5, 20].map((span) => {
      return median(runs.map((spent) => mostSpentIn(spent, 1000 * span) / (span * TOTAL)));
    });
    const used = median(runs.map((spent) => spentPerSecond(spent, 5000, 60_000) / TOTAL));
    console.log(`${five.toFixed(2)} over 5 s, ${twenty.toFixed(2)} over 20 s, used ${used.toFixed(3)}`);
    expect(five).toBeLessThan(kept.five);
    expect(twenty).toBeLessThan(kept.twenty);
    expect(used).toBeGreaterThan(kept.used[0]);
    expect(used).toBeLessThan(kept.used[1]);
    const after = runs.map((spent) => spentPerSecond(spent, 20_000, 30_000) / TOTAL);
    expect(Math.min(...after)).toBeGreaterThan(AFTER_A_STEP.least);
    expect(after.reduce((sum, part) => sum + part) / after.length).toBeGreaterThan(AFTER_A_STEP.mean);
  },
);

test('where costs are known a second late, what they turn out to be is charged then, a second of the target at most', () => {
  const costOf: Asked['costOf'] = (__, atMs) => (atMs < 20_000 ? 1 : 10);
  const spent = spend({ costOf, deliveryMs: 50, knownAfterMs: 1000 });
  // 10,000 units are admitted before any of them is known; one second of that remains as a debt.
  expect(mostSpentIn(spent, 5000) / (5 * TOTAL)).toBeLessThan(3);
  expect(spentPerSecond(spent, 30_000, 60_000) / TOTAL).toBeLessThan(1.03);
  expect(spentPerSecond(spent, 30_000, 60_000) / TOTAL).toBeGreaterThan(0.95);
});
