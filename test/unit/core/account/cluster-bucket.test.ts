import { expect, test } from 'vitest';
import { correctedRate, setPointOf } from '../../../../src/core/account/cluster-bucket.js';
import { clusterDepth } from '../../../../src/core/account/cluster-depth.js';

const BUCKET = { perSecond: 1000, depth: 100 };

test.each([
  { tokens: 100, rate: 1065 },
  { tokens: 35, rate: 1000 },
  { tokens: 0, rate: 965 },
  { tokens: -965, rate: 0 },
  { tokens: -5000, rate: 0 },
])('$tokens tokens: $rate/s of 1,000 are given', ({ tokens, rate }) => {
  expect(correctedRate(BUCKET, tokens)).toBeCloseTo(rate, 9);
});

test.each([
  { perSecond: 1000, depth: 100, setPoint: 35 },
  { perSecond: 5, depth: 10, setPoint: 3.5 },
  { perSecond: 10, depth: 600, setPoint: 10 },
])('$perSecond/s, depth $depth: the set point is $setPoint, 0.35 of it or a second', ({ setPoint, ...bucket }) => {
  expect(setPointOf(bucket)).toBe(setPoint);
  // An empty bucket that nobody owes anything to gives something at once.
  expect(correctedRate(bucket, 0.001)).toBeGreaterThan(0);
});

test.each([
  { perSecond: 1000, piece: 1, depth: 100, why: '100 ms' },
  { perSecond: 100, piece: 1, depth: 30, why: 'three standard deviations' },
  { perSecond: 10, piece: 1, depth: 10, why: 'ten pieces, a second' },
  { perSecond: 5, piece: 1, depth: 10, why: 'ten pieces' },
  { perSecond: 1e6, piece: 1000, depth: 100_000, why: '100 ms are more than the noise of 1,000 pieces' },
  { perSecond: 50_000, piece: 1000, depth: 21_213, why: 'fifty pieces a second: their noise' },
])('$perSecond/s in pieces of $piece: a depth of $depth, $why', ({ perSecond, piece, depth }) => {
  expect(clusterDepth(perSecond, piece)).toBeCloseTo(depth, 0);
});
