import { expect, test } from 'vitest';
import { type Customer, customersOf, PLANS } from '../../../bench/deploys/customers.js';
import { type Asked, type Bound, type Played, verdictOf } from '../../../bench/deploys/verdict.js';

const MINUTE_MS = 60_000;
const TWO_DEPTHS: Bound = { depths: 2, perLifeChange: 1 / 3, words: '' };

test('customers below their quota have at most their part in any period, by seed, and would be granted all of it', () => {
  const customers = customersOf(7, 3 * MINUTE_MS);
  expect(customersOf(7, 3 * MINUTE_MS).map(sumOf)).toEqual(customers.map(sumOf));
  expect(customers).toHaveLength(60);
  let [asks, wanted] = [0, 0];
  for (const { plan, part, dueMs } of customers) {
    const most = Math.floor(part * plan.amount);
    const soonestMs = dueMs.slice(most).map((ms, at) => ms - dueMs[at]);
    expect(Math.min(Infinity, ...soonestMs)).toBeGreaterThanOrEqual(plan.periodMs);
    asks += dueMs.length;
    wanted += most * Math.max(1, (3 * MINUTE_MS) / plan.periodMs);
  }
  expect(asks / wanted).toBeGreaterThan(0.8);
  const asked = customers.flatMap(({ dueMs }, customer) => Array.from(dueMs, (ms) => request(customer, ms, 200)));
  const verdict = verdictOf({ ...NOTHING, customers, asked: asked.sort(byDue) }, TWO_DEPTHS);
  expect(verdict).toMatchObject({ refused: 0, failed: 0, lost: 0 });
});

test('what an exact bucket would have granted is refused below the quota, and after a deploy for a minute', () => {
  const asked = [
    request(0, 0, 200),
    request(0, 70_000, 429),
    request(0, 150_000, 429),
    request(0, 151_000, 503),
    request(0, 152_000, 0),
    { ...request(0, 153_000, 200), endedMs: 154_001 },
    { ...request(0, 154_000, 200), endedMs: Number.NaN },
  ];
  const incidents = [{ kind: 'roll', fromMs: 60_000, toMs: 80_000 } as const];
  expect(verdictOf({ ...NOTHING, customers: [hourly('steady')], asked, incidents }, TWO_DEPTHS)).toMatchObject({
    asked: 7,
    refused: 2,
    refusedAfterDeploys: 1,
    plans: [
      { name: 'hourly', asked: 7, refused: 2 },
      { name: 'minutely', asked: 0, refused: 0 },
    ],
    failed: 1,
    lost: 3,
  });
});

test('most above quota × time is that of the worst span; starts and kills within it are credited', () => {
  const customers = [hourly('greedy')];
  const asked = [0, MINUTE_MS, 2 * MINUTE_MS].flatMap((ms) => Array.from({ length: 60 }, () => request(0, ms, 200)));
  const lifeChanges = [{ atMs: 30_000, kind: 'killed' } as const];
  const played = { ...NOTHING, customers, asked };
  const alone = verdictOf(played, TWO_DEPTHS);
  expect(alone.mostAbove).toBeCloseTo(178 / 60, 9);
  expect(alone.usedByGreedy).toBeCloseTo(180 / 62, 9);
  expect(alone.aboveBound).toBe(1);
  expect(verdictOf({ ...played, lifeChanges }, TWO_DEPTHS)).toMatchObject({
    mostAbove: alone.mostAbove,
    aboveBound: 1,
  });
  const [change] = lifeChanges;
  expect(verdictOf({ ...played, lifeChanges: [change, change, change] }, TWO_DEPTHS).aboveBound).toBe(0);
});

const NOTHING: Played = { customers: [], asked: [], incidents: [], lifeChanges: [] };

function hourly(habit: Customer['habit']): Customer {
  const [plan] = PLANS;
  return { name: 'hourly:0', plan: plan, habit, part: 1, dueMs: new Float64Array() };
}

function sumOf({ dueMs }: Customer): number {
  return dueMs.reduce((sum, ms) => sum + ms, 0);
}

function request(customer: number, dueMs: number, status: number): Asked {
  return { customer, dueMs, endedMs: dueMs, status };
}

function byDue(one: Asked, other: Asked): number {
  return one.dueMs - other.dueMs;
}
