import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { assignmentOf, isMoved, isTooShallow, rateOf } from '../../../../src/doors/envoy/quota/assignment.js';
import { runs } from '../../../property/seed.js';

const bucket = (tokens: number, seconds: number, depth: number) =>
  ({ kind: 'bucket', tokens, seconds, depth }) as const;

describe('a share as an assignment', () => {
  it.each([
    ['500/s', { rate: 500, depth: 50 }, bucket(500, 1, 50)],
    ['12.34/s, rounded down', { rate: 12.349, depth: 3.9 }, bucket(1234, 100, 3)],
    ['5 per minute', { rate: 5 / 60, depth: 5 }, bucket(833, 10_000, 5)],
    ['one a year', { rate: 1 / 31_536_000, depth: 0.1 }, bucket(31, 1_000_000_000, 1)],
    ['nothing', { rate: 0, depth: 10 }, { kind: 'deny' }],
    ['everything', { rate: Infinity, depth: Infinity }, { kind: 'allow' }],
  ])('%s', (_, share, expected) => {
    expect(assignmentOf(share, null)).toEqual(expected);
  });

  it('has other tokens where only the seconds would differ: Envoy takes those for the same bucket', () => {
    const before = assignmentOf({ rate: 200, depth: 20 }, null);
    expect(before).toEqual(bucket(200, 1, 20));
    expect(assignmentOf({ rate: 20, depth: 20 }, before)).toEqual(bucket(199, 10, 20));
  });

  test('admits no more than the share, and at most half a per cent less', () => {
    const rates = fc.double({ min: -6, max: 9, noNaN: true }).map((exponent) => 10 ** exponent);
    fc.assert(
      fc.property(rates, rates, (rate, other) => {
        const before = assignmentOf({ rate: other, depth: other }, null);
        const told = rateOf(assignmentOf({ rate, depth: other }, before));
        expect(told).toBeLessThanOrEqual(rate);
        expect(told).toBeGreaterThanOrEqual(0.99 * rate);
      }),
      runs(1000),
    );
  });
});

describe('what is told anew', () => {
  const moved = (before: number, rate: number) =>
    isMoved(assignmentOf({ rate: before, depth: 10 }, null), { rate, depth: 1 });

  it.each([
    ['2 % of a large rate', 1000, 1021, true],
    ['less', 1000, 1019, false],
    ['a token until the next report', 3, 3.3, true],
    ['less than a token', 3, 3.15, false],
    ['a quarter of a small rate', 0.1, 0.13, true],
    ['no limit any more', 10, Infinity, true],
    ['a limit again', Infinity, 10, true],
    ['none as before', Infinity, Infinity, false],
    ['nothing any more', 10, 0, true],
    ['nothing as before', 0, 0, false],
  ])('%s', (_, before, rate, expected) => {
    expect(moved(before, rate)).toBe(expected);
  });

  it.each([
    [10, 21, true],
    [10, 20, false],
    [10, 5, false],
  ])('a bucket of %d tokens that is to have %d', (had, depth, expected) => {
    expect(isTooShallow(assignmentOf({ rate: 100, depth: had }, null), { rate: 100, depth })).toBe(expected);
  });
});
