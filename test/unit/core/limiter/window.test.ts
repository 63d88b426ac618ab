import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import { ABOVE_WINDOW, GRANTED, Limiter, REFUSED } from '../../../../src/core/limiter/limiter.js';

const NONE = Infinity;

/** Windows of a second, confirmed for ever, without a limit in bytes. */
function windowOf(perSecond: number, windowMs = 1000): Limiter {
  const limiter = new Limiter(1);
  limiter.validUntilMs.set(0, NONE);
  limiter.buckets.setWindow(0, windowMs, 0);
  limiter.setLimit(0, BYTES, NONE, NONE, 0);
  limiter.setLimit(0, MESSAGES, perSecond, (perSecond * windowMs) / 1000, 0);
  return limiter;
}

describe('a window', () => {
  test('a single message of more bytes than it holds passes when it is full, and is paid off by the next ones', () => {
    const limiter = new Limiter(1);
    limiter.validUntilMs.set(0, NONE);
    limiter.buckets.setWindow(0, 1000, 0);
    limiter.setLimit(0, MESSAGES, NONE, NONE, 0);
    limiter.setLimit(0, BYTES, 100, 100, 0);
    expect(limiter.tryAcquire(0, 2, 500, false, 1000)).toBe(ABOVE_WINDOW);
    expect(limiter.tryAcquire(0, 1, 500, false, 1000)).toBe(GRANTED);
    expect(limiter.available(0, BYTES, 5000)).toBe(0);
    expect(limiter.tryAcquire(0, 1, 1, false, 5999)).toBe(REFUSED + BYTES);
    expect(limiter.tryAcquire(0, 1, 1, false, 6000)).toBe(GRANTED);
    expect(limiter.tryAcquire(0, 1, 500, false, 6000)).toBe(REFUSED + BYTES);
  });

  test('of a blocked lane saves no part of a token', () => {
    const limiter = windowOf(10);
    limiter.setLimit(0, MESSAGES, 0, 0, 1000);
    limiter.tokens.set(0, 0.9);
    expect(limiter.tryAcquire(0, 1, 0, false, 2000)).toBe(REFUSED);
    expect(limiter.tokens.at(0)).toBe(0);
  });

  test('a batch above it is not admitted by a full window, as a bucket would, but named; it is demand', () => {
    const limiter = windowOf(100);
    expect(limiter.tryAcquire(0, 101, 0, false, 1000)).toBe(ABOVE_WINDOW);
    expect(limiter.reserve(0, 100_000, 0, 1000)).toBe(ABOVE_WINDOW);
    expect([limiter.attempted.at(0), limiter.admitted.at(0)]).toEqual([100_101, 0]);
    expect(limiter.available(0, MESSAGES, 1000)).toBe(100);
  });

  test('a batch is above the window of its own lane, in either dimension, and above no bucket', () => {
    const limiter = new Limiter(4);
    limiter.validUntilMs.fill(NONE);
    const windows = [10, 20, 30];
    for (const [lane, most] of [...windows, 5].entries()) {
      if (lane < windows.length) limiter.buckets.setWindow(lane, 1000, 0);
      for (const dimension of [MESSAGES, BYTES]) {
        const depth = dimension === MESSAGES ? most : 10 * most;
        limiter.setLimit(lane, dimension, depth, depth, 0);
        limiter.tokens.set(2 * lane + dimension, 0);
      }
    }
    const answersTo = (messages: number, bytes: number) =>
      [0, 1, 2, 3].map((lane) => limiter.tryAcquire(lane, messages, bytes, false, 0) === ABOVE_WINDOW);
    expect(answersTo(10, 100)).toEqual([false, false, false, false]);
    expect(answersTo(20, 1)).toEqual([true, false, false, false]);
    expect(answersTo(30, 1)).toEqual([true, true, false, false]);
    expect(answersTo(2, 201)).toEqual([true, true, false, false]);
  });

  test('bytes of one message may be more than a window holds: they leave a debt; those of a batch may not', () => {
    const limiter = windowOf(100);
    limiter.setLimit(0, BYTES, 500, 500, 0);
    expect(limiter.tryAcquire(0, 2, 2000, false, 1000)).toBe(ABOVE_WINDOW);
    expect(limiter.tryAcquire(0, 1, 2000, false, 1000)).toBe(GRANTED);
    expect([2000, 3000, 4000, 5000].map((ms) => limiter.buckets.debt(0, BYTES, ms))).toEqual([1000, 500, 0, 0]);
    expect(limiter.available(0, BYTES, 5000)).toBe(500);
  });

  test('a bucket that becomes windows begins with the next one, and the other way round nothing is minted', () => {
    const buckets = new Buckets(1);
    buckets.setLimit(0, MESSAGES, 100, 10, 0);
    expect(buckets.available(0, MESSAGES, 500)).toBe(10);
    buckets.setWindow(0, 1000, 500);
    buckets.setLimit(0, MESSAGES, 100, 100, 500);
    expect([buckets.available(0, MESSAGES, 999), buckets.available(0, MESSAGES, 1000)]).toEqual([0, 100]);
    buckets.setWindow(0, 0, 1000);
    expect(buckets.available(0, MESSAGES, 1010)).toBeCloseTo(1);
    buckets.grow(4);
    expect(buckets.windowOf(3)).toBe(0);
  });
});

test('a limiter that grows keeps the windows of the lanes that it had, as long as they were', () => {
  const limiter = new Limiter(2);
  limiter.buckets.setWindow(1, 500, 0);
  limiter.grow(8);
  expect(Array.from({ length: 8 }, (_, lane) => limiter.buckets.windowOf(lane))).toEqual([0, 500, 0, 0, 0, 0, 0, 0]);
});
