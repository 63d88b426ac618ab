import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import { GRANTED, Limiter, REFUSED, UNCONFIRMED } from '../../../../src/core/limiter/limiter.js';

/** Rows of 100 messages/s and 1,000 bytes/s, 10 and 100 deep, full at time 0. */
function rows(count: number): Buckets {
  const buckets = new Buckets(count);
  for (let row = 0; row < count; row++) {
    buckets.setLimit(row, MESSAGES, 100, 10, 0);
    buckets.setLimit(row, BYTES, 1000, 100, 0);
    buckets.fill(row, 0);
  }
  return buckets;
}

function tokensOf(buckets: Buckets, row: number): number[] {
  return [MESSAGES, BYTES].map((dimension) => buckets.tokens.at(2 * row + dimension));
}

describe('a row of buckets', () => {
  test('says that it was asked, with the 63 others of its block, until the reader forgets it', () => {
    const buckets = rows(200);
    buckets.asked.fill(0);
    buckets.tryTake(130, 1, 1, 10);
    expect([...buckets.asked]).toEqual([0, 0, 1, 0]);
    buckets.asked.fill(0);
    buckets.available(63, MESSAGES, 20);
    buckets.available(64, MESSAGES, 20);
    expect([...buckets.asked]).toEqual([1, 1, 0, 0]);
  });

  test('loses all that is there when it is emptied, parts of a token as well, and keeps its debts', () => {
    const buckets = rows(3);
    buckets.tryTake(1, 9.5, 100.5, 0);
    buckets.empty(1, 0);
    expect(tokensOf(buckets, 1)).toEqual([0, -0.5]);
    for (const other of [0, 2]) expect(tokensOf(buckets, other)).toEqual([10, 100]);
  });

  test('that was filled gives back nothing of what was held before', () => {
    const buckets = rows(2);
    buckets.tryTake(1, 8, 80, 0);
    const hold = buckets.hold(1, 8, 80);
    buckets.fill(1, 0);
    buckets.tryTake(1, 10, 100, 0);
    hold.end(8, 80, 0);
    expect(tokensOf(buckets, 1)).toEqual([0, 0]);
  });
});

test('a reader gets of each lane what was asked for and granted, and the squares of what was asked for', () => {
  const limiter = new Limiter(3);
  limiter.validUntilMs.fill(Infinity);
  for (const lane of [0, 1, 2]) {
    limiter.setLimit(lane, MESSAGES, 10, 10, 0);
    limiter.setLimit(lane, BYTES, 1000, 1000, 0);
    limiter.buckets.fill(lane, 0);
  }
  for (const [messages, bytes] of [
    [3, 30],
    [4, 50],
    [9, 90],
  ] as const)
    limiter.tryAcquire(1, messages, bytes, false, 0);
  const column = new Array<number>(10).fill(0);
  limiter.countsInto(1, column, 2);
  // The third one was refused; it was asked for all the same.
  expect([...column]).toEqual([0, 0, 16, 170, 3 ** 2 + 4 ** 2 + 9 ** 2, 30 ** 2 + 50 ** 2 + 90 ** 2, 7, 80, 0, 0]);
  limiter.countsInto(2, column, 2);
  expect([...column]).toEqual(new Array(10).fill(0));
});

describe('a limiter that gets more lanes', () => {
  /** 10 messages each, full at 0; `grown` = only one of the four lanes was there at first. */
  function lanes(grown: boolean): Limiter {
    const limiter = new Limiter(grown ? 1 : 4);
    limiter.validUntilMs.set(0, 1000);
    limiter.setLimit(0, MESSAGES, 10, 10, 0);
    limiter.setLimit(0, BYTES, 1000, 1000, 0);
    limiter.buckets.fill(0, 0);
    limiter.tryAcquire(0, 3, 30, false, 0);
    limiter.tryAcquire(0, 50, 0, false, 0);
    if (grown) limiter.grow(4);
    return limiter;
  }

  test.each([false, true])('decides for all of them as if they had been there from the start: %s', (grown) => {
    const limiter = lanes(grown);
    expect([limiter.laneCount, limiter.admitted.at(MESSAGES), limiter.tokens.at(MESSAGES)]).toEqual([4, 3, 7]);
    expect(limiter.tryAcquire(0, 8, 0, false, 0)).toBe(REFUSED);
    limiter.setLimit(0, MESSAGES, 10, 20, 0);
    expect(limiter.tryAcquire(0, 7, 0, false, 0)).toBe(GRANTED);
    expect([limiter.admitted.at(MESSAGES), limiter.tokens.at(MESSAGES)]).toEqual([10, 0]);
    for (const lane of [1, 2, 3]) {
      expect(limiter.tryAcquire(lane, 1, 0, false, 0)).toBe(UNCONFIRMED);
      limiter.validUntilMs.set(lane, 1000);
      limiter.setLimit(lane, MESSAGES, 10, lane, 0);
      limiter.setLimit(lane, BYTES, 1000, 1000, 0);
      limiter.buckets.fill(lane, 0);
      expect(limiter.tryAcquire(lane, lane, 0, false, 0)).toBe(GRANTED);
      expect(limiter.tryAcquire(lane, 1, 0, false, 0)).toBe(REFUSED);
      expect([2 * lane, 2 * lane + 1].map((slot) => limiter.admitted.at(slot))).toEqual([lane, 0]);
      expect(limiter.tryAcquire(lane, 1, 0, false, 1001)).toBe(UNCONFIRMED);
    }
    expect(limiter.tryAcquire(0, 1, 0, false, 1001)).toBe(UNCONFIRMED);
  });
});

describe('a clock that steps back', () => {
  test('by little costs nothing, and its time is not credited twice', () => {
    const buckets = rows(1);
    buckets.tryTake(0, 10, 100, 1000);
    expect(buckets.available(0, MESSAGES, 1050)).toBe(5);
    expect(buckets.available(0, MESSAGES, 1020)).toBe(5);
    expect(buckets.available(0, MESSAGES, 1050)).toBe(5);
    expect(buckets.available(0, MESSAGES, 1060)).toBe(6);
  });

  test('by far is another clock: what flows in counts from there on', () => {
    const buckets = rows(1);
    buckets.tryTake(0, 10, 100, 1e9);
    expect(buckets.available(0, MESSAGES, 500)).toBe(0);
    expect(buckets.available(0, MESSAGES, 530)).toBeCloseTo(3, 9);
  });
});
