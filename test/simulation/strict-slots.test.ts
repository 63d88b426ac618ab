import { describe, expect, test } from 'vitest';
import { MUTATIONS } from '../../sim/strict/mutations.js';
import { calmSlots, playSlots } from '../../sim/strict/play-slots.js';
import { someOf } from '../property/seed.js';

/** `quotamesh sim strict --concurrency --from 1 --seeds 100` plays the same. */
const SEEDS = someOf(Array.from({ length: 100 }, (_, at) => 1 + at));
/** First seeds in which a fault that was put in is found. */
const FOUND = { 'count-on-publication': 2, 'expiry-without-record': 209 };

test(`${SEEDS.length} random clusters with every fault never hold more slots than there are`, () => {
  let used = 0;
  for (const seed of SEEDS) {
    const verdict = playSlots(seed);
    expect(verdict.over, `quotamesh sim strict --concurrency --from ${seed} --seeds 1`).toBe(0);
    used += verdict.used / SEEDS.length;
  }
  expect(used).toBeGreaterThan(0.1);
  console.log(`slots: ${SEEDS.length} seeds, 0 over, ${(100 * used).toFixed(1)} % held`);
});

test.each(someOf(Object.entries(FOUND)))('the count finds %s', (name, seed) => {
  expect(playSlots(seed).over).toBe(0);
  const { over, firstOverMs } = playSlots(seed, MUTATIONS[name]);
  console.log(`slots: ${name}: seed ${seed}, ${over} slots over from ${firstOverMs} ms on`);
  expect(over).toBeGreaterThan(0);
});

describe('95 % of the slots are in use while one node after the other is hot', () => {
  const calm = [
    { nodes: 3, slots: 20, heldMs: 500, delayMs: 5 },
    { nodes: 9, slots: 100, heldMs: 2000, delayMs: 10 },
  ];
  test.each(someOf(calm))('$nodes nodes, $slots slots, held for $heldMs ms, $delayMs ms away', (of) => {
    const { over, used } = calmSlots(of);
    expect(over).toBe(0);
    expect(used).toBeGreaterThan(0.95);
  });
});
