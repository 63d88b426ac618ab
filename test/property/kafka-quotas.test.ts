import './seed.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FALL_RATIO } from '../../src/core/beside/constants.js';
import { nextWaterLevel } from '../../src/core/beside/kafka-quotas/next-water-level.js';
import { waterLevelOf } from '../../src/core/convergence/water-level-of.js';

const rate = fc.double({ min: 0, max: 1e12, noNaN: true });
const demands = fc.array(fc.oneof(rate, fc.constant(Infinity)), { minLength: 1, maxLength: 40 });
const quota = fc.double({ min: 1, max: 1e12, noNaN: true });

test('what everybody gets by the water level adds up to the capacity, or all have what they want', () => {
  fc.assert(
    fc.property(demands, quota, (wants, capacity) => {
      const waterLevel = waterLevelOf(wants, capacity);
      const given = wants.reduce((sum, want) => sum + Math.min(want, waterLevel), 0);
      if (waterLevel === Infinity) expect(given).toBeLessThanOrEqual(capacity * (1 + 1e-9));
      else {
        expect(Math.abs(given / capacity - 1)).toBeLessThan(1e-9);
        expect(waterLevel).toBeGreaterThanOrEqual((capacity / wants.length) * (1 - 1e-9));
        expect(waterLevel).toBeLessThanOrEqual(capacity * (1 + 1e-9));
      }
    }),
  );
});

test('the order of the brokers does not matter, and who wants more takes nobody above the water level', () => {
  fc.assert(
    fc.property(demands, quota, fc.nat(), rate, (wants, capacity, at, more) => {
      const waterLevel = waterLevelOf(wants, capacity);
      const reversed = waterLevelOf([...wants].reverse(), capacity);
      expect(reversed === waterLevel || Math.abs(reversed / waterLevel - 1) < 1e-9).toBe(true);
      const greedier = wants.map((want, index) => (index === at % wants.length ? want + more : want));
      expect(waterLevelOf(greedier, capacity)).toBeLessThanOrEqual(waterLevel * (1 + 1e-9));
    }),
  );
});

const reading = fc.option(fc.record({ rate, throttleMs: fc.double({ min: 0, max: 1e6, noNaN: true }) }), { nil: null });
const sharers = fc.array(fc.array(reading, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });

test('every step is a whole number of at least 1, and never more than a fifth below what is in force and in use', () => {
  fc.assert(
    fc.property(
      sharers,
      quota,
      fc.option(fc.integer({ min: 1, max: 1e12 }), { nil: null }),
      (all, capacity, inForce) => {
        const next = nextWaterLevel({ quota: capacity, inForce, sharers: all });
        if (next === null) return;
        expect(Number.isSafeInteger(next)).toBe(true);
        expect(next).toBeGreaterThanOrEqual(1);
        const highest = Math.max(0, ...all.flat().map((each) => each?.rate ?? 0));
        const least = FALL_RATIO * Math.min(inForce ?? highest, Math.max(capacity, highest));
        expect(next).toBeGreaterThanOrEqual(Math.floor(least));
        // Above the quota only on the way down from what was in force or flowed before.
        expect(next).toBeLessThanOrEqual(Math.ceil(Math.max(capacity, least)));
      },
    ),
  );
});

test('a client that is idle does not hold down another one that shares its default', () => {
  const busy = [
    { rate: 370_000, throttleMs: 40 },
    { rate: 100_000, throttleMs: 0 },
    { rate: 0, throttleMs: 0 },
  ];
  const idle = busy.map(() => ({ rate: 0, throttleMs: 0 }));
  const next = nextWaterLevel({ quota: 600_000, inForce: 375_000, sharers: [busy, idle] });
  expect(next).toBe(nextWaterLevel({ quota: 600_000, inForce: 375_000, sharers: [busy] }));
  expect(next).toBe(500_000);
});
