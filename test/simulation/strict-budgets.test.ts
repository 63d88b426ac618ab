import { describe, expect, test } from 'vitest';
import { calmBudget, playBudget } from '../../sim/strict/play-budget.js';
import { someOf } from '../property/seed.js';

/** `quotamesh sim strict --budget --from 1 --seeds 60` plays the same. */
const SEEDS = someOf(Array.from({ length: 60 }, (_, at) => 1 + at));

test(`${SEEDS.length} random clusters with every fault spend no more than the budget of a month`, () => {
  let spent = 0;
  for (const seed of SEEDS) {
    const verdict = playBudget(seed);
    expect(verdict.over, `quotamesh sim strict --budget --from ${seed} --seeds 1`).toBe(0);
    spent += verdict.spent;
  }
  expect(spent).toBeGreaterThan(0);
});

test('the month’s account finds a budget that is filled by a log made anew', () => {
  let seed = 1;
  while (seed <= 100 && playBudget(seed, 'knew').over === 0) seed++;
  console.log(`budget: a log made anew fills it: seed ${seed}`);
  expect(seed).toBeLessThanOrEqual(100);
});

describe('99.5 % of a month can be spent', () => {
  const calm = [
    { nodes: 2, budget: 1000, delayMs: 5 },
    { nodes: 7, budget: 20_000, delayMs: 50 },
  ];
  test.each(someOf(calm))('$nodes nodes, $budget tokens, $delayMs ms away', (of) => {
    const { over, used } = calmBudget(of);
    console.log(`budget: ${of.nodes} nodes spend ${(100 * used).toFixed(2)} % of ${of.budget}`);
    expect(over).toBe(0);
    expect(used).toBeGreaterThanOrEqual(0.995);
  });
});
