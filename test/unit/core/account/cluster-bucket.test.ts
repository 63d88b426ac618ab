import { expect, test } from 'vitest';
import { correctedRate, setPointOf, tokensAfter } from '../../../../src/core/account/cluster-bucket.js';
import { clusterDepth } from '../../../../src/core/account/cluster-depth.js';

const BUCKET = { perSecond: 1000, depth: 100 };

test.each([
  { expected: 0, tokens: 0, ms: 50, after: 50, why: 'nobody takes anything: the target flows in' },
  { expected: 0, tokens: 0, ms: 100, after: 100, why: 'until the bucket is full' },
  { expected: 0, tokens: 0, ms: 1e9, after: 100, why: 'and no further' },
  { expected: 1000, tokens: 35, ms: 5000, after: 35, why: 'at the set point what is expected flows in' },
  { expected: 1500, tokens: 100, ms: 1000, after: 35 + 65 / Math.E, why: 'more is expected: towards the set point' },
  { expected: 1500, tokens: -65, ms: 1000, after: 35 - 100 / Math.E, why: 'from below it, too' },
  {
    expected: 1050,
    tokens: 100,
    ms: 300,
    after: 85,
    why: 'little more: a line down to 85, where 1,050 is corrected to',
  },
  { expected: 1050, tokens: 100, ms: 1300, after: 35 + 50 / Math.E, why: 'then the curve' },
  { expected: 900, tokens: 0, ms: 200, after: 20, why: 'less is expected: the rest flows in' },
  { expected: 900, tokens: -265, ms: 1000, after: 35 - 300 / Math.E, why: 'in debt along the curve' },
  {
    expected: 900,
    tokens: -265,
    ms: 1000 * (Math.log(3) + 1),
    after: 35,
    why: 'up to −65, where the correction gives 900; then the line',
  },
  { expected: 1500, tokens: -2965, ms: 1000, after: -1965, why: 'deep in debt all pays back, at the target’s rate' },
  { expected: 1500, tokens: -2965, ms: 3000, after: 35 - 1000 / Math.E, why: 'until the corrected rate is above 0' },
  { expected: 1500, tokens: 55, ms: 0, after: 55, why: 'no time' },
  { expected: 1500, tokens: 55, ms: -20, after: 55, why: 'log time does not go back' },
])('$expected/s expected, $tokens tokens, $ms ms later $after: $why', ({ expected, tokens, ms, after }) => {
  expect(tokensAfter(BUCKET, tokens, ms, expected)).toBeCloseTo(after, 9);
});

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
