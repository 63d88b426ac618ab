import './seed.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { demandShare } from '../../sim/baselines/demand-proportional.js';
import { EpochTokens } from '../../sim/baselines/numaflow/epoch-tokens.js';
import { AsyncTokenBucket } from '../../sim/baselines/pulsar/async-token-bucket.js';
import { asForked, asReleased } from '../../sim/baselines/pulsar/quota-calculator.js';

const counts = fc.array(fc.integer({ min: 0, max: 1e9 }), { minLength: 1, maxLength: 50 });
const quotas = fc.integer({ min: 1, max: 1e9 });

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

describe('Pulsar', () => {
  test('shares sum up to the quota, but for the floor of 1 and the noise of 32-bit floats', () => {
    fc.assert(
      fc.property(counts, quotas, (usages, configured) => {
        fc.pre(usages.some((usage) => usage > 0));
        const total = sum(usages);
        // An own usage far above the quota loses digits in the released formula: own − own · (1 − quota ÷ total).
        const noise = usages.length * (2 + (configured + total) * 4e-7);
        const shares = usages.map((own) => Number(asReleased({ configured, own, total, periodSec: 60, threshold: 0 })));
        expect(sum(shares)).toBeLessThanOrEqual(configured + noise);
        expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  test('the fork gives the same to who has used something, and all to who has not', () => {
    fc.assert(
      fc.property(counts, quotas, (usages, configured) => {
        const total = sum(usages);
        for (const own of usages) {
          const share = Number(asForked({ configured, own, total, periodSec: 60, threshold: 0 }));
          const exact = own === 0 ? configured : Math.max(1, (configured * own) / total);
          expect(Math.abs(share - exact)).toBeLessThanOrEqual(1 + exact * 1e-6);
        }
      }),
    );
  });

  test('a bucket that is always asked passes its rate, and one second of it at first', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 100 }), (rate, stepMs) => {
        const bucket = new AsyncTokenBucket(rate, 0);
        const amount = Math.max(1, Math.floor(rate / 50));
        let passed = 0;
        for (let nowMs = 0; nowMs <= 10_000; nowMs += stepMs) {
          if (bucket.throttlingMs(nowMs) > 0) continue;
          bucket.consume(amount, nowMs);
          passed += amount;
        }
        expect(passed).toBeLessThanOrEqual(11 * rate + amount);
      }),
    );
  });
});

test("rateguard's rule: shares sum up to the quota, nobody is below the floor, more demand is never less", () => {
  fc.assert(
    fc.property(counts, quotas, (demands, quota) => {
      const total = sum(demands);
      const shares = demands.map((own) => demandShare(quota, own, total, demands.length));
      expect(sum(shares) / quota).toBeCloseTo(1, 9);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual((0.05 * quota * (1 - 1e-12)) / demands.length);
      const byDemand = demands.map((demand, at) => [demand, shares[at]] as const);
      byDemand.sort(([left], [right]) => left - right);
      for (let at = 1; at < byDemand.length; at++) {
        expect(byDemand[at]?.[1]).toBeGreaterThanOrEqual(byDemand[at - 1]?.[1]);
      }
    }),
  );
});

test('Numaflow: no second grants more than the maximum to a pool of any size', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 });
  const settings = fc.record({
    mode: fc.constantFrom('relaxed' as const, 'scheduled' as const),
    min: fc.integer({ min: 0, max: 100 }),
    max: fc.integer({ min: 100, max: 10_000 }),
    rampSec: fc.integer({ min: 1, max: 60 }),
  });
  fc.assert(
    fc.property(settings, gaps, fc.integer({ min: 1, max: 50 }), (given, seconds, pool) => {
      const tokens = new EpochTokens(given);
      let epoch = 0;
      let granted = 0;
      for (const gap of seconds) {
        if (gap > 0) granted = 0;
        epoch += gap;
        const grant = tokens.available(pool, epoch);
        tokens.take(grant, pool);
        granted += grant * pool;
        expect(granted).toBeLessThanOrEqual(given.max);
      }
    }),
  );
});
