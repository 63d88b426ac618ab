import { expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';

const INFLOW = { takeable: 10, depth: 100, perSecond: 10, comesBackPerSecond: 10, untilPublished: 3, room: 0 };

function following(): Buckets {
  const buckets = new Buckets(2);
  for (const row of [0, 1]) {
    buckets.setLimit(row, BYTES, Infinity, 1, 0);
    buckets.setInflow(row, MESSAGES, INFLOW, 0);
  }
  return buckets;
}

test('a row is taken from when so much more has been taken than flowed in', () => {
  const buckets = following();
  buckets.tryTake(0, 2, 500, 0);
  expect(buckets.isTakenFrom(0)).toBe(false);
  buckets.tryTake(0, 1, 500, 0);
  expect([buckets.isTakenFrom(0), buckets.isTakenFrom(1)]).toEqual([true, false]);
  buckets.refill(0, 100);
  expect(buckets.isTakenFrom(0)).toBe(false);
  buckets.tryTake(0, 1, 500, 100);
  expect(buckets.isTakenFrom(0)).toBe(true);
});

test('what was said is not said again, and a row that follows no bucket has nothing to say', () => {
  const buckets = following();
  buckets.tryTake(0, 5, 0, 0);
  buckets.setInflow(0, MESSAGES, { ...INFLOW, takeable: 5 }, 0);
  expect(buckets.isTakenFrom(0)).toBe(false);
  buckets.setInflow(0, MESSAGES, { ...INFLOW, takeable: 5, untilPublished: Infinity, room: 0 }, 0);
  buckets.tryTake(0, 5, 0, 0);
  expect(buckets.isTakenFrom(0)).toBe(false);
  buckets.tryTake(1, 5, 0, 0);
  buckets.setLimit(1, MESSAGES, 10, 100, 0);
  expect(buckets.isTakenFrom(1)).toBe(false);
});

test('rows that come change nothing', () => {
  const buckets = following();
  buckets.tryTake(0, 3, 0, 0);
  buckets.grow(4);
  expect([0, 1, 2, 3].map((row) => buckets.isTakenFrom(row))).toEqual([true, false, false, false]);
  buckets.setInflow(3, MESSAGES, INFLOW, 0);
  buckets.setLimit(3, BYTES, Infinity, 1, 0);
  buckets.tryTake(3, 3, 0, 0);
  expect(buckets.isTakenFrom(3)).toBe(true);
});
