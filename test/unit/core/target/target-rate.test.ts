import { expect, test } from 'vitest';
import { bearableRate } from '../../../../src/core/target/limiting-rate.js';
import { targetRate } from '../../../../src/core/target/target-rate.js';

const NO_BACKEND = Infinity;
const NONE = Infinity;

test.each([
  { says: 'backends bear less', desired: 100, limiting: 40, reserved: 10, target: 40 },
  { says: 'never below what is reserved', desired: 100, limiting: 5, reserved: 10, target: 10 },
  { says: 'no backend reports', desired: 100, limiting: NO_BACKEND, reserved: 0, target: 100 },
  { says: 'blocked', desired: 0, limiting: NO_BACKEND, reserved: 0, target: 0 },
  { says: 'unlimited', desired: Infinity, limiting: NO_BACKEND, reserved: 0, target: Infinity },
])('$says', ({ desired, limiting, reserved, target }) => {
  expect(targetRate(desired, limiting, reserved)).toBe(target);
});

test.each([
  { split: 'by-usage', quota: 50, bearable: 8 },
  { split: 'by-quota', quota: 50, bearable: 5.333 },
  { split: 'by-quota', quota: 100, bearable: 10.667 },
  { split: 'by-quota', quota: NONE, bearable: 8 },
] as const)('$split, quota $quota of 150', ({ split, quota, bearable }) => {
  const on = { ratio: 0.8, transactions: 10, cost: 60, costOfAll: 120, quota, quotaOfAll: 150 };
  expect(bearableRate(split, on)).toBeCloseTo(bearable, 3);
  expect(bearableRate(split, { ...on, ratio: NO_BACKEND })).toBe(NO_BACKEND);
});
