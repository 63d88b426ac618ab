import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITING_SPLITS } from '../../src/core/base/settings.js';
import { CostMeter, sumOfCosts } from '../../src/core/target/cost-meter.js';
import { followedHealth } from '../../src/core/target/followed-health.js';
import { bearableRate } from '../../src/core/target/limiting-rate.js';
import { SmoothedRate } from '../../src/core/target/smoothed-rate.js';
import { createDecision, decideTarget, type TargetInputs } from '../../src/core/target/target-rate.js';
import { HEALTHY, isSaneHealth, throttlingRatio } from '../../src/core/target/throttling-ratio.js';
import { WorstZones } from '../../src/core/target/worst-zones.js';
import { wideId } from '../wide-ids.js';
import { runs } from './seed.js';

const NONE = Infinity;
/** Over the whole range that records may carry, 0 included. */
const rate = fc.oneof(
  fc.constant(0),
  fc.double({ min: -9, max: 15, noNaN: true }).map((exponent) => 10 ** exponent),
);
const ceiling = fc.oneof(rate, fc.constant(NONE));
/** What records can carry at most and at least: a broken node may say it. */
const float32 = fc.float({ min: 0, noNaN: true, noDefaultInfinity: true });
const positive = rate.filter((value) => value > 0);

const inputs: fc.Arbitrary<TargetInputs> = fc
  .record({
    quotaMessages: ceiling,
    totalCost: ceiling,
    reserved: fc.double({ min: 0, max: 1, noNaN: true }),
    reservedAlone: rate,
    expectedCost: positive,
    transactions: fc.oneof(rate, float32),
    cost: fc.oneof(rate, float32),
    bearable: ceiling,
    minimumRatio: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ reserved, reservedAlone, ...given }) => ({
    ...given,
    // A part of the total, as validation asks for; without a total anything.
    reservedCost: given.totalCost === NONE ? reservedAlone : reserved * given.totalCost,
  }));

describe('the decision', () => {
  test('is a number, between what is reserved and what is desired, and is what it says it is', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const out = createDecision();
        decideTarget(given, out);
        for (const figure of ['averageCost', 'reserved', 'desired', 'limiting', 'minimum', 'target'] as const) {
          expect(out[figure], figure).toBeGreaterThanOrEqual(0);
        }
        expect(out.averageCost).toBeGreaterThan(0);
        expect(out.desired).toBeLessThanOrEqual(given.quotaMessages);
        expect(out.target).toBeLessThanOrEqual(out.desired);
        expect(out.target).toBeGreaterThanOrEqual(out.reserved);
        expect(out.target).toBeGreaterThanOrEqual(out.minimum);
        // What is reserved, in cost units: never below it unless the quota is.
        const reservedRate = given.reservedCost / out.averageCost;
        expect(out.target).toBeGreaterThanOrEqual(Math.min(reservedRate, out.desired));
        const named = {
          unlimited: NONE,
          messages: given.quotaMessages,
          cost: given.totalCost / out.averageCost,
          limiting: given.bearable,
          minimum: out.minimum,
          reserved: out.reserved,
        }[out.binding];
        expect(out.target, out.binding).toBe(named);
      }),
      runs(2000),
    );
  });

  test('less quota, or backends that bear less, never raise it', () => {
    fc.assert(
      fc.property(inputs, fc.double({ min: 0, max: 1, noNaN: true }), (given, factor) => {
        const [whole, less] = [createDecision(), createDecision()];
        decideTarget(given, whole);
        decideTarget({ ...given, bearable: given.bearable === NONE ? NONE : given.bearable * factor }, less);
        expect(less.target).toBeLessThanOrEqual(whole.target);
        // Without any quota there is no minimum; the first one brings it.
        if (whole.desired === NONE) return;
        decideTarget({ ...given, quotaMessages: whole.desired * factor }, less);
        expect(less.target).toBeLessThanOrEqual(whole.target);
      }),
    );
  });

  test('the minima of all groups together are at most that part of their quotas', () => {
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (groups, ratio) => {
        let [minima, quotas] = [0, 0];
        for (const group of groups) {
          const out = createDecision();
          decideTarget({ ...group, bearable: 0, minimumRatio: ratio }, out);
          if (out.desired === NONE) continue;
          minima += out.minimum;
          quotas += out.desired;
        }
        expect(minima).toBeLessThanOrEqual(ratio * quotas * (1 + 1e-9));
      }),
    );
  });
});

describe('health', () => {
  const anything = fc.double();
  const level = fc.record({ kind: fc.constant('level' as const), level: anything, target: anything, spring: anything });

  test('what is sane has a ratio of 0.5 or more, or none; nothing is NaN', () => {
    fc.assert(
      fc.property(level, (health) => {
        fc.pre(isSaneHealth(health));
        const ratio = throttlingRatio(health);
        expect(ratio).toBeGreaterThanOrEqual(0.5);
      }),
      runs(2000),
    );
  });

  test('a level that is followed lies between what was known and what is told, whatever the clock does', () => {
    fc.assert(
      fc.property(rate, rate, fc.double({ min: -1e9, max: 1e9, noNaN: true }), rate, (known, told, elapsedMs, tau) => {
        const at = (value: number) => ({ kind: 'level', level: value, target: 1, spring: 1 }) as const;
        const followed = followedHealth(at(known), at(told), elapsedMs, tau);
        if (followed.kind !== 'level') throw new Error('a level stays one');
        const slack = 1e-9 * Math.max(known, told);
        expect(followed.level).toBeGreaterThanOrEqual(Math.min(known, told) - slack);
        expect(followed.level).toBeLessThanOrEqual(Math.max(known, told) + slack);
      }),
    );
  });

  test('what a backend can bear is a rate, by usage and by quota', () => {
    const contribution = fc.record({
      ratio: fc.oneof(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.constant(HEALTHY)),
      transactions: rate,
      cost: rate,
      costOfAll: rate,
      quota: ceiling,
      quotaOfAll: rate,
    });
    fc.assert(
      fc.property(fc.constantFrom(...LIMITING_SPLITS), contribution, (split, on) => {
        expect(bearableRate(split, on)).toBeGreaterThanOrEqual(0);
      }),
      runs(1000),
    );
  });

  test('zones: in whatever order they are told, the same one decides, and a single bad one of several never does', () => {
    const zone = fc.record({ zone: fc.constantFrom('a', 'b', 'c', 'd'), backend: fc.nat(20), limit: rate });
    fc.assert(
      fc.property(fc.array(zone, { minLength: 1, maxLength: 12 }), fc.nat(5), (told, leaveOut) => {
        const decide = (order: typeof told) => {
          const zones = new WorstZones();
          zones.begin();
          for (const one of order) zones.add(one.zone, wideId(one.backend), one.limit);
          return zones.deciding(leaveOut)?.limit;
        };
        const limit = decide(told);
        expect(decide([...told].reverse())).toBe(limit);
        const worst = Math.min(...told.map((one) => one.limit));
        const names = new Set(told.map((one) => one.zone));
        if (names.size > 1 && leaveOut > 0) {
          const [bad] = told.filter((one) => one.limit === worst);
          const others = told.filter((one) => one.zone !== bad?.zone);
          expect(limit).toBeGreaterThanOrEqual(Math.min(...others.map((one) => one.limit)));
        } else expect(limit).toBe(worst);
      }),
    );
  });
});

describe('costs at a node', () => {
  const steps = fc.array(
    fc.record({
      lane: fc.nat(4),
      backend: fc.nat(40),
      units: rate,
      transactions: fc.oneof(fc.constant(0), fc.constant(1), rate),
      // The clock goes on, stands still, or steps back.
      passedMs: fc.oneof(fc.constant(0), fc.double({ min: -10_000, max: 60_000, noNaN: true })),
    }),
    { minLength: 1, maxLength: 60 },
  );
  const settings = { smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 3, sampleUnits: 0 };

  test('finite, not negative and in order whatever the clock does; never more lanes than there may be', () => {
    fc.assert(
      fc.property(steps, (told) => {
        const meter = new CostMeter(settings);
        let nowMs = 0;
        for (const { lane, backend, units, transactions, passedMs } of told) {
          nowMs += passedMs;
          const isKnown = meter.has(lane);
          const isFull = meter.laneCount === settings.maxLanes;
          expect(meter.report(lane, wideId(backend), units, transactions, nowMs)).toBe(isKnown || !isFull);
          const costs = meter.costsOf(lane, nowMs);
          if (costs === null) continue;
          expect(Number.isFinite(costs.transactions) && costs.transactions > 0).toBe(true);
          expect(Number.isFinite(sumOfCosts(costs))).toBe(true);
          for (const { cost } of costs.backends) expect(cost).toBeGreaterThan(0);
          meter.removeSilent(nowMs);
        }
        expect(meter.laneCount).toBeLessThanOrEqual(settings.maxLanes);
      }),
      runs(500),
    );
  });

  test('a rate forgets, and never gives back more than was counted', () => {
    fc.assert(
      fc.property(steps, (told) => {
        const smoothed = new SmoothedRate();
        let [nowMs, total] = [0, 0];
        for (const { units, passedMs } of told) {
          nowMs += passedMs;
          smoothed.count(units, nowMs, 10_000);
          total += units;
          expect(smoothed.rate(nowMs, 10_000)).toBeLessThanOrEqual((total / 10) * (1 + 1e-9));
          expect(smoothed.rate(nowMs + 1e9, 10_000)).toBe(0);
        }
      }),
    );
  });
});
