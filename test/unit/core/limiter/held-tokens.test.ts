import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import type { Hold } from '../../../../src/core/limiter/held-tokens.js';

const NONE = Infinity;

function bucket(perSecond: number, depth: number): Buckets {
  const buckets = new Buckets(1);
  buckets.setLimit(0, BYTES, NONE, NONE, 0);
  buckets.setLimit(0, MESSAGES, perSecond, depth, 0);
  buckets.fill(0, 0);
  return buckets;
}

/** Always as much as there is: pieces of 25 at 300/s, of which `used` turn out to be needed `heldMs` later; used per second. */
function usedPerSecond({ depth, heldMs, used }: { depth: number; heldMs: number; used: number }): number {
  const buckets = bucket(300, depth);
  const open: { readonly hold: Hold; readonly untilMs: number }[] = [];
  let sum = 0;
  for (let nowMs = 0; nowMs < 60_000; nowMs += 5) {
    while ((open[0]?.untilMs ?? NONE) <= nowMs) {
      open.shift()?.hold.end(25 - used, 0, nowMs);
      sum += used;
    }
    while (buckets.available(0, MESSAGES, nowMs) >= 25 && buckets.tryTake(0, 25, 0, nowMs) === -1) {
      open.push({ hold: buckets.hold(0, 25, 0), untilMs: nowMs + heldMs });
    }
  }
  return Math.round(sum / 60);
}

describe('what is held and comes back', () => {
  /** docs/decisions/0051 has these rows. */
  test.each([
    { heldMs: 0, depth: 30, used: 20, expected: 300 },
    { heldMs: 100, depth: 30, used: 20, expected: 285 },
    { heldMs: 1000, depth: 30, used: 20, expected: 240 },
    { heldMs: 1000, depth: 300, used: 20, expected: 298 },
    { heldMs: 2000, depth: 30, used: 10, expected: 117 },
    { heldMs: 2000, depth: 600, used: 10, expected: 227 },
  ])('at saturation $used of 25, held $heldMs ms, depth $depth: $expected/s are used', ({ expected, ...given }) => {
    expect(usedPerSecond(given)).toBe(expected);
  });

  test('a bank pays one bucket: 636 reservations of 25, held for 55 s at 300/s, each cancelled and taken again', () => {
    const buckets = bucket(300, 30);
    const held: Hold[] = [];
    let nowMs = 0;
    for (; nowMs < 55_000; nowMs += 10) {
      if (buckets.available(0, MESSAGES, nowMs) < 25) continue;
      buckets.tryTake(0, 25, 0, nowMs);
      held.push(buckets.hold(0, 25, 0));
    }
    expect(held.length).toBeGreaterThan(636);
    const beganMs = nowMs;
    let taken = 0;
    for (const hold of held) {
      nowMs += 600 / held.length;
      hold.end(25, 0, nowMs);
      while (buckets.tryTake(0, 1, 0, nowMs) === -1) taken++;
    }
    expect(taken).toBeGreaterThan(150);
    expect(taken).toBeLessThanOrEqual((300 * (nowMs - beganMs)) / 1000 + 30 + 1);
  });

  test('all of it while the bucket has had room for it, and nothing once it has been full', () => {
    const buckets = bucket(100, 100);
    buckets.tryTake(0, 25, 0, 0);
    const early = buckets.hold(0, 25, 0);
    early.end(15, 0, 100);
    expect(buckets.available(0, MESSAGES, 100)).toBe(100);
    buckets.tryTake(0, 90, 0, 100);
    const first = buckets.hold(0, 90, 0);
    buckets.tryTake(0, 10, 0, 100);
    first.end(80, 0, 400);
    expect(buckets.available(0, MESSAGES, 400)).toBe(100);
    buckets.tryTake(0, 50, 0, 400);
    const late = buckets.hold(0, 50, 0);
    expect(buckets.available(0, MESSAGES, 900)).toBe(100);
    buckets.tryTake(0, 100, 0, 900);
    late.end(50, 0, 900);
    expect(buckets.available(0, MESSAGES, 900)).toBe(0);
  });

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
  const [buckets, rounds] = [bucket(1, 1e9), 200_000];
  const before = heapUsed();
  for (let round = 0; round < rounds; round++) {
    buckets.tryTake(0, 1, 0, 0);
    buckets.hold(0, 1, 0).end(0, 0, 0);
  }
  // A gap that stayed would take 60 bytes and more.
  expect((heapUsed() - before) / rounds).toBeLessThan(10);
  expect(buckets.tokens.at(MESSAGES)).toBe(1e9 - rounds);
});
