import { expect, test } from 'vitest';
import { bearableRate } from '../../../../src/core/target/limiting-rate.js';
import { createDecision, decideTarget, targetRate } from '../../../../src/core/target/target-rate.js';

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

const SIX_UNITS = { transactions: 10, cost: 60, expectedCost: 1 };

test.each([
  { says: 'cost alone', given: { totalCost: 100 }, target: 16.667, binding: 'cost' },
  {
    says: 'the message quota is tighter',
    given: { totalCost: 100, quotaMessages: 12 },
    target: 12,
    binding: 'messages',
  },
  { says: 'the backends bear less', given: { totalCost: 100, bearable: 8.333 }, target: 8.333, binding: 'limiting' },
  { says: 'reserved', given: { totalCost: 100, reservedCost: 70, bearable: 8 }, target: 11.667, binding: 'reserved' },
  {
    says: 'nothing is borne: the minimum',
    given: { totalCost: 100, bearable: 0 },
    target: 0.01667,
    binding: 'minimum',
  },
  { says: 'no quota at all', given: {}, target: Infinity, binding: 'unlimited' },
  { says: 'no quota, saturated backends', given: { bearable: 5 }, target: 5, binding: 'limiting' },
  { says: 'no quota, backends that bear less than one', given: { bearable: 0.25 }, target: 0.25, binding: 'limiting' },
  {
    says: 'as much is reserved as the backends bear: they decide',
    given: { totalCost: 100, reservedCost: 60, bearable: 10 },
    target: 10,
    binding: 'limiting',
  },
  { says: 'blocked', given: { totalCost: 0, bearable: 5 }, target: 0, binding: 'cost' },
  {
    says: 'reserved is never above the quota',
    given: { quotaMessages: 3, totalCost: 90, reservedCost: 90 },
    target: 3,
  },
  {
    says: 'no cost known: the expected one',
    given: { totalCost: 100, transactions: 0, cost: 0, expectedCost: 4 },
    target: 25,
  },
  { says: 'an average below one unit counts as one', given: { totalCost: 100, cost: 1 }, target: 100 },
])('decides: $says', ({ given, target, binding }) => {
  const out = createDecision();
  const nothing = { quotaMessages: NONE, totalCost: NONE, reservedCost: 0, bearable: NO_BACKEND, minimumRatio: 0.001 };
  decideTarget({ ...nothing, ...SIX_UNITS, ...given }, out);
  expect(out.target).toBeCloseTo(target, 3);
  if (binding !== undefined) expect(out.binding).toBe(binding);
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
