import { expect, test } from 'vitest';
import { KEY_MUTATIONS } from '../../sim/strict/keyed/key-mutations.js';
import { playKeyBudgets } from '../../sim/strict/keyed/play-key-budgets.js';
import { playKeys } from '../../sim/strict/keyed/play-keys.js';

const SEEDS = 100;
/** Seeds in which a fault that was put in is found. */
const FOUND = { 'every-row-is-sure': 20, 'ends-while-held': 34 };

test(`${SEEDS} random clusters hold no more slots of a key than there are, and leave no rows of it`, () => {
  let begunAgain = 0;
  for (let seed = 101; seed <= 100 + SEEDS; seed++) {
    const verdict = playKeys(seed);
    expect(verdict, `quotamesh sim strict --keys --from ${seed} --seeds 1`).toMatchObject({ over: 0, left: 0 });
    begunAgain += verdict.begunAgain;
  }
  console.log(`slots of keys: ${SEEDS} seeds, 0 over, none left, used again ${begunAgain} times`);
});

test('budgets of keys: 60 random clusters, and 40 logs made anew, spend no more than there is', () => {
  for (let seed = 101; seed <= 160; seed++) expect(playKeyBudgets(seed).over, `seed ${seed}`).toBe(0);
  for (let seed = 101; seed <= 140; seed++) expect(playKeyBudgets(seed, true).over, `seed ${seed}, anew`).toBe(0);
});

test('the account finds lanes that end although something was spent', () => {
  const takeOut = KEY_MUTATIONS['ends-what-was-spent']();
  try {
    expect(playKeyBudgets(1).over).toBeGreaterThan(0);
  } finally {
    takeOut();
  }
});

test.each(Object.entries(FOUND))('the count finds %s', (name, seed) => {
  const takeOut = KEY_MUTATIONS[name]();
  try {
    const { over, firstOverMs } = playKeys(seed);
    console.log(`slots of keys: ${name}: seed ${seed}, ${over} slots over from ${firstOverMs} ms on`);
    expect(over).toBeGreaterThan(0);
  } finally {
    takeOut();
  }
  expect(playKeys(seed).over).toBe(0);
});
