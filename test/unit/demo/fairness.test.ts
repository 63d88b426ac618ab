import { expect, test } from 'vitest';
import { jainIndex } from '../../../src/tools/demo/measure/meter.js';

const QUOTA = [300, 600_000] as const;
const second = (demand: number, admitted: number, bytes = 100) => ({
  demand: [demand, demand * bytes] as const,
  admitted: [admitted, admitted * bytes] as const,
});

test('1 where everybody gets their max-min part, however unequal', () => {
  expect(jainIndex(QUOTA, [second(800, 140), second(80, 80), second(80, 80)])).toBeCloseTo(1, 9);
});

test('less where one is favoured', () => {
  // Parts of what is fair: 1.43, 0.5, 0.5 → 2.43² ÷ (3 · 2.54).
  expect(jainIndex(QUOTA, [second(800, 200), second(80, 40), second(80, 40)])).toBeCloseTo(0.774, 3);
});

test('in bytes where bytes are tighter', () => {
  // 6,000 bytes each: 100 messages/s in all, 50 for each of two.
  expect(jainIndex(QUOTA, [second(200, 50, 6000), second(200, 50, 6000)])).toBeCloseTo(1, 9);
});

test('no index where fewer than two nodes want anything', () => {
  expect(jainIndex(QUOTA, [second(800, 300), second(0, 0)])).toBeNaN();
});
