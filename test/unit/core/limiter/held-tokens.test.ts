import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';

const NONE = Infinity;

function bucket(perSecond: number, depth: number): Buckets {
  const buckets = new Buckets(1);
  buckets.setLimit(0, BYTES, NONE, NONE, 0);
  buckets.setLimit(0, MESSAGES, perSecond, depth, 0);
  buckets.fill(0, 0);
  return buckets;
}

describe('what is held and comes back', () => {
  test.each([
    ['nothing of what was there all the same and is void', 100, 0],
    ['the debt alone, which would not have been made', 10, 0],
    ['no more than is still owed later', 10, 50],
  ])('to a row that was emptied meanwhile: %s', (_, depth, laterMs) => {
    const buckets = bucket(100, depth);
    buckets.tryTake(0, 25, 0, 0);
    const hold = buckets.hold(0, 25, 0);
    buckets.empty(0, 0);
    hold.end(25, 0, laterMs);
    // As if nothing had been taken: all void at 0 ms, and what has flowed in since.
    expect(buckets.available(0, MESSAGES, laterMs)).toBe((100 * laterMs) / 1000);
  });

  test('to rows that were added later as to those that were there', () => {
    const buckets = bucket(100, 100);
    buckets.tryTake(0, 50, 0, 0);
    const holds = [buckets.hold(0, 50, 0)];
    buckets.grow(4);
    for (const row of [1, 2, 3]) {
      for (const dimension of [MESSAGES, BYTES]) buckets.setLimit(row, dimension, 100, 100, 0);
      buckets.fill(row, 0);
      buckets.tryTake(row, 50, 0, 0);
      holds.push(buckets.hold(row, 50, 0));
    }
    const leftAfter = (nowMs: number) => [0, 1, 2, 3].map((row) => buckets.available(row, MESSAGES, nowMs));
    expect(leftAfter(200)).toEqual([70, 70, 70, 70]);
    for (const hold of holds) hold.end(50, 0, 200);
    expect(leftAfter(200)).toEqual([100, 100, 100, 100]);
  });

  test('into a row that has become another’s nothing comes back, into those beside it all', () => {
    const buckets = new Buckets(3);
    for (const row of [0, 1, 2]) {
      for (const dimension of [MESSAGES, BYTES]) buckets.setLimit(row, dimension, 1, 100, 0);
      buckets.fill(row, 0);
      buckets.tryTake(row, 60, 80, 0);
    }
    const holds = [0, 1, 2].map((row) => buckets.hold(row, 60, 80));
    buckets.held?.drop(1);
    for (const hold of holds) hold.end(50, 70, 0);
    const left = [0, 1, 2].map((row) => [buckets.tokens.at(2 * row + MESSAGES), buckets.tokens.at(2 * row + BYTES)]);
    expect(left).toEqual([
      [90, 90],
      [40, 20],
      [90, 90],
    ]);
    // Its new owner gets back what is held from now on.
    buckets.tryTake(1, 10, 10, 0);
    buckets.hold(1, 10, 10).end(10, 10, 0);
    expect([buckets.tokens.at(2 + MESSAGES), buckets.tokens.at(2 + BYTES)]).toEqual([40, 20]);
  });
});

test('what has ended takes no memory, if nothing came back and nothing flowed in', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapUsed = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const [buckets, rounds] = [bucket(1, 1e9), 100_000];
  const before = heapUsed();
  for (let round = 0; round < rounds; round++) {
    buckets.tryTake(0, 1, 0, 0);
    buckets.hold(0, 1, 0).end(0, 0, 0);
  }
  // A gap that stayed would take 60 bytes and more.
  expect((heapUsed() - before) / rounds).toBeLessThan(10);
  expect(buckets.tokens.at(MESSAGES)).toBe(1e9 - rounds);
});
