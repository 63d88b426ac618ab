import { expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';

const INFLOW = {
  takeable: 10,
  depth: 100,
  perSecond: 10,
  comesBackPerSecond: 10,
  untilPublished: 3,
  room: 0,
  largest: Infinity,
  largestPerSecond: 0,
  anyInMs: Infinity,
};

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

test('a full slot of a slow bucket admits as much above its depth as that bucket holds by now', () => {
  const slow = { ...INFLOW, takeable: 10, depth: 10, perSecond: 0, largest: 25, largestPerSecond: 5 };
  const buckets = following();
  buckets.setInflow(0, MESSAGES, slow, 0);
  buckets.grow(4);
  buckets.setInflow(3, BYTES, slow, 0);
  buckets.setLimit(3, MESSAGES, Infinity, 1, 0);
  for (const [amount, atMs, waitMs] of [
    [10, 0, 0],
    [25, 0, 0],
    [26, 0, 200],
    [50, 0, 5000],
    [50, 4999, 1],
    [50, 5000, 0],
  ] as const) {
    buckets.refill(0, atMs);
    buckets.refill(3, atMs);
    expect(buckets.refusedBy(0, amount, 0), `${amount}`).toBe(waitMs > 0 ? MESSAGES : -1);
    expect(buckets.refusedBy(3, 0, amount), `${amount}`).toBe(waitMs > 0 ? BYTES : -1);
    expect(buckets.waitMs(0, amount, 0, atMs)).toBeCloseTo(waitMs);
    expect(buckets.waitMs(3, 0, amount, atMs)).toBeCloseTo(waitMs);
  }
  // No bound holds for what is in the slot. A client that comes back exactly in time may be early by rounding.
  buckets.setInflow(0, MESSAGES, { ...slow, takeable: 5 - 1e-9, largest: -20 }, 5000);
  expect(buckets.refusedBy(0, 5, 0)).toBe(-1);
  // Any work once a debt is paid, whatever its size.
  buckets.setInflow(0, MESSAGES, { ...slow, largest: 0, largestPerSecond: 0, anyInMs: 300 }, 5000);
  expect([11, 1000].map((amount) => buckets.waitMs(0, amount, 0, 5000))).toEqual([300, 300]);
  expect(buckets.tryTake(0, 1000, 0, 5299)).toBe(MESSAGES);
  expect(buckets.tryTake(0, 1000, 0, 5300)).toBe(-1);
  buckets.setInflow(0, MESSAGES, slow, 5000);
  // Both have to be there: eight of the depth at 10/s take longer than one more above the largest at 5/s.
  buckets.setInflow(0, MESSAGES, { ...slow, takeable: 2 }, 0);
  expect(buckets.waitMs(0, 26, 0, 5000)).toBeCloseTo(800);
  buckets.setLimit(0, MESSAGES, 10, 10, 5000);
  buckets.fill(0, 5000);
  expect(buckets.refusedBy(0, 1000, 0)).toBe(-1);
});
