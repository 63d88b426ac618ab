import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { addHiddenDemand } from '../../../../src/core/account/parts/hidden-demand.js';
import { splitLimit } from '../../../../src/core/account/parts/split-limit.js';

function split(limit: number, demands: readonly number[], floorRatio = 0): number[] {
  const parts = new Float64Array(demands.length);
  splitLimit(parts, limit, Float64Array.from(demands), floorRatio);
  return [...parts];
}

const sum = (rates: readonly number[]) => rates.reduce((total, rate) => total + rate, 0);

describe('the parts of a node’s limit: worked numbers', () => {
  it.each([
    [100, [10, 80, 80], 0, [10, 45, 45]],
    [100, [20, 30], 0, [45, 55]],
    [90, [0, 0, 0], 0, [30, 30, 30]],
    [100, [0, 200, 200], 0.06, [2, 49, 49]],
    [0, [5, 5], 0.06, [0, 0]],
    [Infinity, [5, 5], 0, [Infinity, Infinity]],
    [7, [3], 0, [7]],
  ])('limit %d, demands %j, floor %d → %j', (limit, demands, floorRatio, parts) => {
    split(limit, demands, floorRatio).forEach((part, at) => {
      const expected = parts[at];
      if (Number.isFinite(expected)) expect(part).toBeCloseTo(expected, 9);
      else expect(part).toBe(expected);
    });
  });
});

const rate = fc.double({ min: 0, max: 1e9, noNaN: true });
const asked = fc.record({
  limit: fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
  demands: fc.array(rate, { minLength: 1, maxLength: 30 }),
  floorRatio: fc.double({ min: 0, max: 1, noNaN: true }),
});

test('the whole limit is given away, and no more', () => {
  fc.assert(
    fc.property(asked, ({ limit, demands, floorRatio }) => {
      const parts = split(limit, demands, floorRatio);
      expect(Math.abs(sum(parts) - limit)).toBeLessThanOrEqual(1e-9 * limit);
      for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('everybody gets what it wants, or at least an equal part', () => {
  fc.assert(
    fc.property(asked, ({ limit, demands, floorRatio }) => {
      const due = limit / demands.length;
      split(limit, demands, floorRatio).forEach((part, at) => {
        const wanted = Math.max(demands[at], floorRatio * due);
        expect(part).toBeGreaterThanOrEqual(Math.min(wanted, due) * (1 - 1e-9));
      });
    }),
  );
});

test('nobody gets less for wanting more, and order does not matter', () => {
  fc.assert(
    fc.property(asked, rate, ({ limit, demands, floorRatio }, more) => {
      const before = split(limit, demands, floorRatio);
      const [first = 0, ...others] = demands;
      const after = split(limit, [first + more, ...others], floorRatio);
      expect(after[0]).toBeGreaterThanOrEqual(before[0] * (1 - 1e-9));
      const turned = split(limit, demands.toReversed(), floorRatio).reverse();
      turned.forEach((part, at) => {
        expect(Math.abs(part - before[at])).toBeLessThanOrEqual(1e-9 * limit);
      });
    }),
  );
});

describe('hidden demand', () => {
  it.each([
    ['doubles the claim', [60, 0], [66.7, Infinity], [133.4, 0]],
    ['by weight, in the short dimension', [30, 30_000], [1000, 30_000], [60, 60_000]],
    ['in both where nothing passes', [0, 0], [10, 500], [20, 1000]],
    ['is never below the usage', [500, 0], [10, 10], [500, 0]],
    ['knows nothing of what is unlimited', [0, 0], [10, Infinity], [20, 0]],
  ])('%s', (_, usage, claims, expected) => {
    const demand = Float64Array.from(usage);
    addHiddenDemand(demand, Float64Array.from(claims));
    expect([...demand]).toEqual(expected);
  });
});
