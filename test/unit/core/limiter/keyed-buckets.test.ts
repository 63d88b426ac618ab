import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { KeyedBuckets } from '../../../../src/core/limiter/keyed-buckets.js';

const NONE = Infinity;
/** 10 messages/s, 10 deep, without a limit in bytes: full again a second after all was taken. */
const keyed = (max: number) => new KeyedBuckets(max, [10, NONE], [10, NONE]);
const names = (count: number) => Array.from({ length: count }, (_, at) => `name-${at}`);

function take(buckets: KeyedBuckets, name: string, messages: number, nowMs: number): boolean {
  return buckets.buckets.tryTake(buckets.rowOf(name, nowMs), messages, 0, nowMs) === -1;
}

function left(buckets: KeyedBuckets, name: string, nowMs: number): number {
  return buckets.buckets.available(buckets.find(name), MESSAGES, nowMs);
}

describe('buckets by name', () => {
  test('take other limits all at once: nothing is minted, no debt forgiven', () => {
    const buckets = keyed(1000);
    for (const name of names(40)) take(buckets, name, 4, 0);
    take(buckets, 'name-39', 100, 1000);
    buckets.setLimits(Float64Array.of(20, 5), Float64Array.of(100, 50), 1000);
    expect(left(buckets, 'name-0', 1000)).toBe(10);
    expect(buckets.buckets.debt(buckets.find('name-39'), MESSAGES, 1000)).toBe(90);
    expect(buckets.buckets.available(buckets.find('name-3'), BYTES, 1000)).toBe(0);
    expect(left(buckets, 'name-0', 1500)).toBe(20);
    take(buckets, 'newcomer', 1, 1500);
    expect(left(buckets, 'newcomer', 1500)).toBe(99);
    take(buckets, 'newcomer', 99, 1500);
    expect(left(buckets, 'newcomer', 2000)).toBe(10);
  });
});

test('the room is at most twice what was needed, and never more than the bound', () => {
  const buckets = keyed(100);
  const room = () => buckets.buckets.tokens.length / 2;
  for (const [at, name] of names(100).entries()) {
    buckets.rowOf(name, 0);
    expect(room()).toBeLessThanOrEqual(Math.max(16, 2 * (at + 1)));
    expect(room()).toBeGreaterThan(at);
  }
  expect(room()).toBe(100);
});

describe('a row goes', () => {
  test('when it is full again and has not been asked for so long, not before', () => {
    const buckets = keyed(1000);
    for (const name of names(40)) take(buckets, name, 10, 0);
    expect(buckets.sweep(999, 500, 1000)).toBe(0);
    buckets.rowOf('name-20', 600);
    expect(buckets.sweep(1000, 1001, 1000)).toBe(0);
    expect(buckets.sweep(1000, 1000, 1000)).toBe(39);
    expect([buckets.size, buckets.nameOf(buckets.find('name-20'))]).toEqual([1, 'name-20']);
    expect(buckets.sweep(1600, 1000, 1000)).toBe(1);
  });

  test('one after the other: a sweep looks at no more than it may, and the next one goes on from there', () => {
    const buckets = keyed(1000);
    for (const name of names(10)) buckets.rowOf(name, 0);
    expect([3, 3, 3, 3].map((most) => buckets.sweep(1000, 1000, most))).toEqual([3, 3, 3, 1]);
    expect(buckets.size).toBe(0);
  });
});

describe('at the bound', () => {
  test('nobody is added while all owe something, and no row is lost', () => {
    const buckets = keyed(20);
    for (const name of names(20)) take(buckets, name, 5, 0);
    expect(buckets.rowOf('newcomer', 499)).toBe(-1);
    expect(names(20).map((name) => left(buckets, name, 0))).toEqual(names(20).map(() => 5));
    expect(buckets.rowOf('newcomer', 500)).not.toBe(-1);
  });

  test('a row that another name has taken over gives nothing back for the first one', () => {
    const buckets = keyed(1);
    take(buckets, 'first', 8, 0);
    const hold = buckets.buckets.hold(buckets.find('first'), 8, 0);
    take(buckets, 'second', 10, 1000);
    hold.end(8, 0, 1000);
    expect(left(buckets, 'second', 1000)).toBe(0);
  });
});
