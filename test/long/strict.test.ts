import { expect, test } from 'vitest';
import { exhaust, SMALL_WORLDS } from '../../sim/strict/exhaust.js';
import { MUTATIONS } from '../../sim/strict/mutations.js';
import { playBudget } from '../../sim/strict/play-budget.js';
import { playSlots } from '../../sim/strict/play-slots.js';
import { playStrict } from '../../sim/strict/play-strict.js';

const SEEDS = Number(process.env.STRICT_SEEDS ?? 10_000);
const STATES = Number(process.env.STRICT_STATES ?? 40_000);
/** 0.1 s of a core per seed is measured, 1 s allowed. */
const TIMEOUT_MS = SEEDS * 1000;

test(`${SEEDS} random clusters with every fault admit nothing that one central bucket would not`, {
  timeout: TIMEOUT_MS,
}, () => {
  const over: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const verdict = playStrict(seed);
    if (verdict.over > 0)
      over.push(`quotamesh sim strict --from ${seed} --seeds 1: ${verdict.over} tokens, ${verdict.plan}`);
  }
  expect(over).toEqual([]);
});

test(`${SEEDS} random clusters never hold more slots than there are`, { timeout: TIMEOUT_MS }, () => {
  const over: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) if (playSlots(seed).over > 0) over.push(seed);
  expect(over, 'quotamesh sim strict --concurrency --from …').toEqual([]);
});

test(`${SEEDS} random clusters spend no more than the budget of a month`, { timeout: TIMEOUT_MS }, () => {
  const over: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) if (playBudget(seed).over > 0) over.push(seed);
  expect(over, 'quotamesh sim strict --budget --from …').toEqual([]);
});

test.each(Object.entries(MUTATIONS))(
  'the judge finds %s within 1,000 seeds',
  { timeout: 1_000_000 },
  (name, mutation) => {
    let seed = 1;
    while (seed <= 1000 && playStrict(seed, mutation).over === 0) seed++;
    console.log(`strict: ${name} is found at seed ${seed}`);
    expect(seed).toBeLessThanOrEqual(1000);
  },
);

test.each(Object.entries(SMALL_WORLDS))(
  'every order of actions of three nodes: %s',
  { timeout: 1_000_000 },
  (name, bounds) => {
    const { states, depth, broken } = exhaust(bounds, 40, STATES);
    console.log(`strict: ${name}: ${states} states, every order of ${depth} actions`);
    expect(broken).toBeNull();
  },
);
