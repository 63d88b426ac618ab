import { expect, test } from 'vitest';
import { KEY_MUTATIONS } from '../../sim/strict/keyed/key-mutations.js';
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
