import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amountOf,
  BUDGET_UNITS,
  countOf,
  largestAmount,
  largestCount,
  smallestAmount,
} from '../../../../src/core/strict/budget-units.js';

test.each([
  ['messages', 7, 7],
  ['messages', 1.5, null],
  ['tokens', 1830, 1830],
  ['tokens', -1, null],
  ['cents', 0, 0],
  ['cents', 0.42, 420_000],
  // The rounding of doubles is no amount.
  ['cents', 0.1 + 0.32, 420_000],
  ['cents', 3 * 0.1, 300_000],
  ['cents', 0.000001, 1],
  ['cents', 0.0000005, null],
  ['cents', 0.1234567, null],
  ['cents', 20.0000001, null],
  ['cents', 2_251_799_813, 2_251_799_813_000_000],
  ['cents', 2_251_799_814, null],
  ['bytes', 2 ** 53, null],
  ['tokens', Number.NaN, null],
  ['tokens', Infinity, null],
] as const)('%s %d are %s parts', (unit, amount, count) => {
  expect(countOf(unit, amount)).toBe(count ?? Number.NaN);
});

test('what was counted is told and counted again to the part, in every unit', () => {
  for (const unit of BUDGET_UNITS) {
    const counts = fc.integer({ min: 0, max: largestCount(unit) });
    fc.assert(fc.property(counts, (count) => countOf(unit, amountOf(unit, count)) === count));
  }
  for (const unit of BUDGET_UNITS) expect(countOf(unit, smallestAmount(unit))).toBe(1);
  expect(largestAmount('cents')).toBe(2_251_799_813);
});
