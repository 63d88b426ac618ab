import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamRates } from '../../../../src/core/strict/stream-rates.js';
import { StrictClock } from '../../../../src/core/strict/strict-clock.js';
import { StrictDemand } from '../../../../src/core/strict/strict-demand.js';
import { lagMostOf, walletOf } from '../../../../src/core/strict/strict-quota.js';
import '../../../property/seed.js';

const HOUR_MS = 3_600_000;

function holders(wants: readonly number[]) {
  return wants.map((want, at) => ({ node: `n${at}`, life: 1, seq: 1, readMs: 0, want, lagMs: 10, taken: 0, hold: 0 }));
}

describe('quota', () => {
  test.each([
    { perSecond: 1000, depth: 100, nodes: 5, most: 50, lagMs: 25, wallet: 12 },
    { perSecond: 1000, depth: 1000, nodes: 5, most: 500, lagMs: 100, wallet: 153 },
    { perSecond: 1, depth: 3, nodes: 3, most: 1000, lagMs: 100, wallet: 0 },
  ])('$perSecond/s with a depth of $depth, of $nodes nodes', ({ perSecond, depth, nodes, most, lagMs, wallet }) => {
    const quota = { amount: (perSecond * HOUR_MS) / 1000, perMs: HOUR_MS, depth };
    expect(lagMostOf(quota)).toBe(most);
    expect(walletOf(quota, nodes, lagMs)).toBe(wallet);
  });
});

describe('streams', () => {
  test.each([
    { wants: [10, 80, 80], rate: 100, isFull: false, rates: [10, 45, 45] },
    { wants: [10, 20], rate: 100, isFull: false, rates: [10, 20] },
    { wants: [10, 20], rate: 100, isFull: true, rates: [38, 61] },
    { wants: [0, 0], rate: 100, isFull: true, rates: [0, 0] },
    { wants: [5, 5, 5], rate: 14, isFull: false, rates: [4, 4, 4] },
  ])('$rate for $wants, full: $isFull', ({ wants, rate, isFull, rates }) => {
    expect(streamRates(holders(wants), rate, isFull)).toEqual(rates);
  });

  test('are whole, no more than the rate, and no more than wanted while it is short', () => {
    const wants = fc.array(fc.nat(3.6e9), { minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(wants, fc.nat(3.6e9), fc.boolean(), (all, rate, isFull) => {
        const rates = streamRates(holders(all), rate, isFull);
        expect(rates.every((each) => Number.isSafeInteger(each) && each >= 0)).toBe(true);
        const sum = rates.reduce((total, each) => total + each, 0);
        expect(sum).toBeLessThanOrEqual(rate);
        if (all.reduce((total, each) => total + each, 0) > rate) {
          expect(rates.every((each, at) => each <= all[at])).toBe(true);
          expect(rate - sum).toBeLessThan(all.length);
        }
      }),
    );
  });
});

test('a clock bounds log time: sent at 100, read at 108 as 5,000', () => {
  const clock = new StrictClock();
  expect(clock.highAt(108)).toBe(Infinity);
  clock.read(5000, 108, true);
  clock.readOwn(5000, 100, 108);
  expect([clock.lowAt(110), clock.highAt(110)]).toEqual([5001, 5012]);
  // A better own record narrows it; one that took longer does not widen it.
  clock.read(5030, 132, true);
  clock.readOwn(5030, 131, 132);
  expect([clock.lowAt(132), clock.highAt(132)]).toEqual([5030, 5033]);
  clock.readOwn(5040, 100, 150);
  expect(clock.highAt(150)).toBe(5051);
});

test('a clock that the log outruns knows nothing until the next own record', () => {
  const clock = new StrictClock();
  clock.read(5000, 108, true);
  clock.readOwn(5000, 100, 108);
  clock.read(9000, 120, true);
  expect(clock.highAt(120)).toBe(Infinity);
  clock.readOwn(9000, 119, 121);
  expect(clock.highAt(121)).toBe(9004);
});

test('demand: 100/s, then a burst that is more than chance', () => {
  const demand = new StrictDemand();
  for (let ms = 0; ms <= 4000; ms += 20) {
    demand.add(2);
    demand.perSecond(ms);
  }
  expect(demand.perSecond(4000)).toBeCloseTo(100, 0);
  demand.add(40);
  demand.perSecond(4020);
  expect(demand.perSecond(4060)).toBeGreaterThan(500);
});
