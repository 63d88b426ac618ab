import { expect, test } from 'vitest';
import { playKeyBudgets } from '../../sim/strict/keyed/play-key-budgets.js';
import { playKeys } from '../../sim/strict/keyed/play-keys.js';
import { someOf } from '../property/seed.js';

/** `quotamesh sim strict --keys --from 1 --seeds 6` plays the same; test/long has a hundred. */
const SEEDS = someOf([1, 2, 3, 4, 5, 6]);

test(`${SEEDS.length} random clusters hold no more slots of a key than there are, and leave no rows of it`, () => {
  let begunAgain = 0;
  for (const seed of SEEDS) {
    const verdict = playKeys(seed);
    expect(verdict, `quotamesh sim strict --keys --from ${seed} --seeds 1`).toMatchObject({ over: 0, left: 0 });
    expect(verdict.entered).toBeGreaterThan(0);
    begunAgain += verdict.begunAgain;
  }
  console.log(`slots of keys: ${SEEDS.length} seeds, 0 over, none left, used again ${begunAgain} times`);
});

test('the count finds a node that opens keys before the log is an expiry old', () => {
  const { over, firstOverMs } = playKeys(3, ({ lanes }) => {
    Object.defineProperty(lanes.rows, 'isOpen', { get: () => true });
  });
  console.log(`slots of keys: opened at once: seed 3, ${over} slots over from ${firstOverMs} ms on`);
  expect(over).toBeGreaterThan(0);
});

test(`budgets of keys: ${SEEDS.length} random clusters, and a log made anew, spend no more than there is`, () => {
  for (const seed of SEEDS) {
    expect(playKeyBudgets(seed), `seed ${seed}`).toMatchObject({ over: 0 });
    const { over, used } = playKeyBudgets(seed, true);
    expect(over, `seed ${seed}, log replaced`).toBe(0);
    expect(used).toBeGreaterThan(0);
  }
});
