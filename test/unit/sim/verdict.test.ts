import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocateFairly, createAllocation, findWaterLevel } from '../../../sim/verdict/fair-allocation.js';
import { jainIndex, oscillationOf, worstJain } from '../../../sim/verdict/fairness.js';
import { ReferenceBucket, spansAbove, worstSpan } from '../../../sim/verdict/spans.js';
import { convergenceOf, steadySpans } from '../../../sim/verdict/steadiness.js';
import '../../property/seed.js';

const NONE = Infinity;
const of = (...values: number[]) => Float64Array.from(values);

describe('the judge’s own max-min', () => {
  test('laws: within the quota, within the demand, and nobody who lacks has less than another', () => {
    const amounts = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.double({ min: 0.1, max: 10, noNaN: true })),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(amounts, fc.double({ min: 0, max: 1e6, noNaN: true }), (nodes, quota) => {
        const demands = nodes.map(([demand]) => demand);
        const weights = nodes.map(([, weight]) => weight);
        const out = createAllocation(demands.length);
        const sizes = new Float64Array(demands.length);
        allocateFairly({ rates: of(...demands), sizes, weights: of(...weights) }, [quota, NONE], out);
        const sumOf = (amounts: readonly number[]) => amounts.reduce((total, each) => total + each, 0);
        const [sum, due] = [sumOf([...out.rates]), Math.min(quota, sumOf(demands))];
        expect(Math.abs(sum - due)).toBeLessThanOrEqual(1e-6 * Math.max(1, due));
        const level = findWaterLevel(of(...demands), of(...weights), quota);
        out.rates.forEach((rate, at) => {
          expect(rate).toBeLessThanOrEqual(demands[at]);
          if (rate < demands[at]) expect(rate / weights[at]).toBeCloseTo(level, 5);
        });
      }),
    );
  });
});

describe('windows', () => {
  const bins = { admitted: of(5, 5, 20, 0, 5, 5), granted: of(5, 5, 5, 5, 5, 5) };

  test('the worst window is found wherever it begins', () => {
    expect(worstSpan(bins, 1)).toBe(4);
    expect(worstSpan(bins, 2)).toBe(2.5);
    expect(worstSpan(bins, 6)).toBeCloseTo(40 / 30, 9);
    expect(worstSpan(bins, 7)).toBe(0);
  });

  test('windows above a bound are counted every so many bins', () => {
    expect(spansAbove(bins, 2, 1, 1.01)).toBe(2);
    expect(spansAbove(bins, 2, 2, 1.01)).toBe(1);
  });

  test('a quota that changes counts as it was bin by bin; a window without quota shows nothing', () => {
    expect(worstSpan({ admitted: of(10, 10), granted: of(10, 2) }, 2)).toBeCloseTo(20 / 12, 9);
    expect(worstSpan({ admitted: of(1000, 10), granted: of(NONE, 2) }, 2)).toBe(0);
    expect(worstSpan({ admitted: of(3, 0), granted: of(0, 0) }, 2)).toBe(3);
  });

  test('the reference bucket: 100 ms of burst are allowed, what is beyond is overshoot', () => {
    const bucket = new ReferenceBucket(1000);
    for (let count = 0; count < 150; count++) bucket.take(1, 0);
    expect(bucket.overshoot).toBe(50);
    bucket.take(60, 100);
    expect(bucket.overshoot).toBe(50);
    bucket.take(60, 100);
    expect(bucket.overshoot).toBe(70);
  });

  test('a lowered quota takes the surplus of the bucket, and an unlimited one starts full when it ends', () => {
    const lowered = new ReferenceBucket(1000);
    lowered.setQuota(100, 50);
    lowered.take(15, 50);
    expect(lowered.overshoot).toBe(5);
    const opened = new ReferenceBucket(NONE);
    opened.take(1e9, 10);
    opened.setQuota(100, 20);
    opened.take(10, 20);
    expect(opened.overshoot).toBe(0);
  });
});

describe('steady parts and convergence', () => {
  test('the time after steps, faults and the time after them are left out', () => {
    const unrest = { stepsMs: [0, 20_000, 22_000], faults: [{ fromMs: 40_000, untilMs: 45_000 }] };
    expect(steadySpans(unrest, 5000, 60_000)).toEqual([
      { fromMs: 5000, untilMs: 20_000 },
      { fromMs: 27_000, untilMs: 40_000 },
      { fromMs: 50_000, untilMs: 60_000 },
    ]);
    expect(steadySpans({ stepsMs: [0], faults: [{ fromMs: 0, untilMs: 60_000 }] }, 5000, 60_000)).toEqual([]);
    expect(steadySpans({ stepsMs: [], faults: [] }, 5000, 1000)).toEqual([{ fromMs: 0, untilMs: 1000 }]);
  });

  const rule = { bound: 0.05, holdMs: 300 };
  test.each([
    { says: 'at once', errors: [0, 0, 0, 0, 0], stepsMs: [0], expected: [0] },
    { says: 'after two samples', errors: [1, 1, 0, 0, 0, 0], stepsMs: [0], expected: [200] },
    { says: 'not while it holds for too short', errors: [1, 0, 0, 1, 0, 0, 0], stepsMs: [0], expected: [400] },
    { says: 'held long enough, whatever comes later', errors: [1, 0, 0, 0, 1, 1], stepsMs: [0], expected: [100] },
    { says: 'never', errors: [0, 0, 1], stepsMs: [0], expected: [null] },
    { says: 'each step to the next', errors: [1, 0, 0, 1, 1, 0], stepsMs: [0, 300], expected: [100, 200] },
    { says: 'not before the next step', errors: [1, 1, 0, 0], stepsMs: [0, 200], expected: [null, 0] },
    { says: 'a step within a sample', errors: [1, 1, 0, 0, 0], stepsMs: [50], expected: [150] },
  ])('settled $says', ({ errors, stepsMs, expected }) => {
    expect(convergenceOf(of(...errors), 100, { stepsMs, faults: [] }, rule)).toEqual(expected);
  });

  test('a fault ends what a step is given', () => {
    const unrest = { stepsMs: [0], faults: [{ fromMs: 200, untilMs: 400 }] };
    expect(convergenceOf(of(1, 0, 1, 1, 1), 100, unrest, rule)).toEqual([100]);
  });
});

describe('fairness', () => {
  test('Jain’s index: k equal winners of n give k ÷ n; the worked example of the background page', () => {
    expect(jainIndex([1, 1, 1, 1])).toBe(1);
    expect(jainIndex([1, 0, 0, 0])).toBe(0.25);
    expect(jainIndex([643 / 400, ...Array(4).fill(89 / 150)])).toBeCloseTo(0.795, 2);
    expect(jainIndex([1])).toBeNull();
    expect(jainIndex([0, 0])).toBeNull();
  });

  test('the worst span counts, and nodes that are due next to nothing do not', () => {
    const nodes = [
      { admitted: of(10, 10, 20, 20), fair: of(10, 10, 10, 10) },
      { admitted: of(10, 10, 0, 0), fair: of(10, 10, 10, 10) },
      { admitted: of(0, 0, 0, 0), fair: of(0.1, 0.1, 0.1, 0.1) },
    ];
    const spans = [
      { from: 0, until: 2 },
      { from: 2, until: 4 },
    ];
    expect(worstJain(nodes, spans, 10)).toBe(0.5);
    expect(worstJain(nodes, spans.slice(0, 1), 10)).toBe(1);
    expect(worstJain(nodes, [], 10)).toBeNull();
  });

  test('oscillation: what moves from node to node in each period, as a part of the quota', () => {
    const nodes = [
      { admitted: of(10, 0, 10, 0), fair: of() },
      { admitted: of(0, 10, 0, 10), fair: of() },
    ];
    const span = [{ from: 0, until: 4 }];
    expect(oscillationOf(nodes, of(10, 10, 10, 10), span, 1)).toBe(2);
    expect(oscillationOf(nodes, of(10, 10, 10, 10), span, 2)).toBe(0);
    expect(oscillationOf(nodes, of(NONE, NONE, NONE, NONE), span, 1)).toBe(0);
  });
});
