import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { GRANTED, Limiter, REFUSED, UNCONFIRMED } from '../../../../src/core/limiter/limiter.js';
import type { Figure } from '../../../../src/core/limiter/refused-work.js';

const UNLIMITED = Infinity;

interface Lane {
  readonly messages?: readonly [perSecond: number, depth: number];
  readonly bytes?: readonly [perSecond: number, depth: number];
}

/** A limiter of one lane, confirmed for ever, whose buckets are full at time 0. */
function fullLane({ messages = [UNLIMITED, UNLIMITED], bytes = [UNLIMITED, UNLIMITED] }: Lane): Limiter {
  const limiter = new Limiter(1);
  limiter.validUntilMs.set(0, UNLIMITED);
  limiter.setLimit(0, MESSAGES, ...messages, 0);
  limiter.setLimit(0, BYTES, ...bytes, 0);
  limiter.accrueSince(0, -1e9);
  limiter.available(0, MESSAGES, 0);
  return limiter;
}

function take(limiter: Limiter, nowMs: number, messages: number, bytes = 0): number {
  return limiter.tryAcquire(0, messages, bytes, false, nowMs);
}

describe('blocked and unlimited are never mixed up', () => {
  test('0 blocks whatever the amount and however long one waits', () => {
    const limiter = fullLane({ messages: [0, 20] });
    expect(take(limiter, 1e9, 1e-9)).toBe(REFUSED + MESSAGES);
    expect(limiter.buckets.waitMs(0, 1, 0, 1e9)).toBe(UNLIMITED);
    expect(limiter.available(0, MESSAGES, 1e9)).toBe(0);
  });

  test('0 in one dimension lets work through that needs none of it', () => {
    const limiter = fullLane({ messages: [UNLIMITED, UNLIMITED], bytes: [0, 1] });
    expect(take(limiter, 0, 5, 0)).toBe(GRANTED);
    expect(take(limiter, 0, 5, 1)).toBe(REFUSED + BYTES);
  });

  test('no quota admits everything and never yields NaN', () => {
    const limiter = fullLane({});
    expect(take(limiter, 0, 1e15, 1e15)).toBe(GRANTED);
    expect(take(limiter, 1, 1e15, 1e15)).toBe(GRANTED);
    expect([limiter.tokens.at(MESSAGES), limiter.available(0, BYTES, 2)]).toEqual([UNLIMITED, UNLIMITED]);
    expect(limiter.buckets.waitMs(0, 1e15, 1e15, 2)).toBe(0);
  });

  test('from unlimited to limited starts empty', () => {
    const limiter = fullLane({});
    limiter.setLimit(0, MESSAGES, 100, 10, 0);
    expect(take(limiter, 0, 1)).toBe(REFUSED + MESSAGES);
    expect(take(limiter, 10, 1)).toBe(GRANTED);
  });

  test('blocked, what was left in the bucket is gone: nothing passes, nothing shows as available', () => {
    const limiter = fullLane({ messages: [100, 10] });
    limiter.setLimit(0, MESSAGES, 0, 10, 0);
    expect([take(limiter, 0, 1), take(limiter, 1e6, 5)]).toEqual([REFUSED + MESSAGES, REFUSED + MESSAGES]);
    expect(limiter.available(0, MESSAGES, 1e6)).toBe(0);
    limiter.setLimit(0, MESSAGES, 100, 10, 1e6);
    expect(take(limiter, 1e6 + 9, 1)).toBe(REFUSED + MESSAGES);
    expect(take(limiter, 1e6 + 10, 1)).toBe(GRANTED);
  });

  test('through blocked and back nothing accrues, and a debt stays', () => {
    const limiter = fullLane({ messages: [100, 10] });
    take(limiter, 0, 50);
    limiter.setLimit(0, MESSAGES, 0, 10, 0);
    limiter.setLimit(0, MESSAGES, 100, 10, 1e6);
    expect(limiter.tokens.at(0)).toBe(-40);
    expect(take(limiter, 1e6 + 409, 1)).toBe(REFUSED + MESSAGES);
    expect(take(limiter, 1e6 + 410, 1)).toBe(GRANTED);
  });
});

describe('confirmation', () => {
  test('an unconfirmed lane decides nothing and counts nothing', () => {
    const limiter = fullLane({ messages: [100, 10] });
    limiter.validUntilMs.set(0, 50);
    expect(take(limiter, 50, 1)).toBe(GRANTED);
    expect(take(limiter, 50.1, 1)).toBe(UNCONFIRMED);
    expect([limiter.admitted.at(0), limiter.attempted.at(0), limiter.refusals.at(0)]).toEqual([1, 1, 0]);
  });

  test('a new limiter confirms nothing', () => {
    expect(new Limiter(1).tryAcquire(0, 1, 0, false, 0)).toBe(UNCONFIRMED);
  });

  test('emptying takes tokens and keeps debts; unlimited stays unlimited', () => {
    const limiter = fullLane({ messages: [100, 10] });
    limiter.buckets.empty(0, 5000);
    expect([limiter.tokens.at(MESSAGES), limiter.tokens.at(BYTES)]).toEqual([0, UNLIMITED]);
    expect(take(limiter, 5000, 1)).toBe(REFUSED + MESSAGES);
    expect(take(limiter, 5010, 1)).toBe(GRANTED);
    take(limiter, 6000, 50);
    limiter.buckets.empty(0, 6000);
    expect(limiter.tokens.at(0)).toBe(-40);
  });
});

describe('a lane served for the first time', () => {
  test('is as full as if it had been idle since the node was ready', () => {
    const limiter = new Limiter(1);
    limiter.setLimit(0, MESSAGES, 100, 10, 5000);
    limiter.accrueSince(0, 4950);
    expect(limiter.available(0, MESSAGES, 5000)).toBeCloseTo(5, 9);
    limiter.accrueSince(0, 0);
    expect(limiter.available(0, MESSAGES, 5000)).toBeCloseTo(5, 9);
  });

  test('served again it has what it had: a debt is not credited twice', () => {
    const limiter = new Limiter(1);
    limiter.validUntilMs.set(0, UNLIMITED);
    limiter.setLimit(0, MESSAGES, 100, 10, 1000);
    limiter.setLimit(0, BYTES, UNLIMITED, UNLIMITED, 1000);
    limiter.accrueSince(0, 0);
    expect(take(limiter, 1000, 100_010)).toBe(GRANTED);
    limiter.setLimit(0, MESSAGES, 100, 10, 61_000);
    limiter.accrueSince(0, 0);
    expect(take(limiter, 61_000, 1)).toBe(REFUSED + MESSAGES);
    expect(limiter.tokens.at(0)).toBeCloseTo(-94_000, 6);
  });
});

/** Squares of the first attempts at a lane's work, messages and bytes. */
function squaresOf(limiter: Limiter, lane: number): number[] {
  const counts: number[] = [];
  limiter.countsInto(lane, counts, 0);
  return counts.slice(2, 4);
}

const inAllSlots = (figure: Figure) => [0, 1, 2, 3].map((slot) => figure.at(slot));

test('refused, retried and waiting work far apart: attempted counts each piece once, in every page of lanes', () => {
  const limiter = new Limiter(1000);
  for (const lane of [0, 63, 64, 999]) {
    limiter.countArrival(lane, 3, 30);
    limiter.countSettled(lane, 3, 30, true);
    limiter.countRefused(lane, 2, 20, false);
    limiter.countRefused(lane, 2, 20, true);
    expect([limiter.attempted.at(2 * lane), limiter.attempted.at(2 * lane + 1)]).toEqual([5, 50]);
    expect(squaresOf(limiter, lane)).toEqual([13, 1300]);
    expect([limiter.admitted.at(2 * lane), limiter.refused.at(2 * lane)]).toEqual([3, 2]);
    expect([limiter.refusals.at(lane), limiter.retryRefusals.at(lane)]).toEqual([2, 1]);
  }
  expect([limiter.attempted.at(2), limiter.refusals.at(500)]).toEqual([0, 0]);
});

describe('a lane without quota', () => {
  const open = () => {
    const limiter = new Limiter(2);
    for (const dimension of [0, 1]) limiter.setLimit(1, dimension, Infinity, 1, 0);
    return limiter;
  };

  test('passes without a clock once it is served, and is counted', () => {
    const limiter = open();
    expect(limiter.passUnlimited(1, 1, 10, false)).toBe(false);
    limiter.validUntilMs.set(1, 5);
    expect(limiter.passUnlimited(1, 1, 10, false)).toBe(true);
    expect(limiter.passUnlimited(1, 2, 0, true)).toBe(true);
    expect([...limiter.admitted]).toEqual([0, 0, 3, 10]);
    expect(inAllSlots(limiter.attempted)).toEqual([0, 0, 1, 10]);
    expect([...squaresOf(limiter, 0), ...squaresOf(limiter, 1)]).toEqual([0, 0, 1, 100]);
    expect(limiter.tokens.at(2)).toBe(Infinity);
  });

  test.each([0, 1])('does not where dimension %i is limited after all, as isolation may do', (dimension) => {
    for (const perSecond of [0, 100]) {
      const limiter = open();
      limiter.validUntilMs.set(1, 5);
      limiter.setLimit(1, dimension, perSecond, 100, 1);
      expect(limiter.passUnlimited(1, 1, 1, false)).toBe(false);
      expect(inAllSlots(limiter.attempted)).toEqual([0, 0, 0, 0]);
    }
  });
});
