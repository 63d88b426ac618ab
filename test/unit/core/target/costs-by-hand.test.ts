import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { busiest } from '../../../../src/core/target/busiest.js';
import { BACKENDS_PER_LANE } from '../../../../src/core/target/constants/constants.js';
import { CostMeter, NO_BACKEND } from '../../../../src/core/target/cost-meter.js';
import { createDecision, decideTarget } from '../../../../src/core/target/target-rate.js';
import { runs } from '../../../property/seed.js';
import { wideId } from '../../../wide-ids.js';

const SETTINGS = { smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 3, sampleUnits: 0 };

test('the busiest groups are those that cost the most in sum, at least the floor, then by name', () => {
  const costs = fc.array(
    fc.record({ group: fc.constantFrom('a', 'b', 'c', 'd', 'e'), cost: fc.integer({ min: 0, max: 4 }) }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(costs, fc.nat(5), fc.nat(6), (given, most, floor) => {
      const sums = new Map<string, number>();
      for (const { group, cost } of given) sums.set(group, (sums.get(group) ?? 0) + cost);
      const byCost = [...Array(60).keys()].reverse().flatMap((cost) => {
        const names = [...sums].filter(([, sum]) => sum === cost && sum >= floor).map(([group]) => group);
        return names.sort().map((group) => ({ group, cost }));
      });
      expect(busiest(given, most, floor)).toEqual(byCost.slice(0, most));
    }),
    runs(300),
  );
});

describe('room for lanes', () => {
  test('is for as many as are set, each counted once', () => {
    const meter = new CostMeter(SETTINGS);
    const room = () => [[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [7]].map((lanes) => meter.hasRoomFor(lanes));
    expect(room()).toEqual([true, true, true, true, false, true]);
    expect([1, 2].map((lane) => meter.report(lane, wideId(5), 1, 1, 0))).toEqual([true, true]);
    expect(room()).toEqual([true, true, true, true, false, true]);
    expect(meter.report(3, wideId(5), 1, 1, 0)).toBe(true);
    expect(room()).toEqual([true, true, true, true, false, false]);
    expect([meter.report(4, wideId(5), 1, 1, 0), meter.report(3, wideId(5), 1, 1, 0), meter.laneCount]).toEqual([
      false,
      true,
      3,
    ]);
  });

  test('comes back when one has been silent for longer than is set', () => {
    const meter = new CostMeter(SETTINGS);
    meter.report(1, wideId(5), 1, 1, 0);
    meter.removeSilent(SETTINGS.forgetAfterMs);
    expect(meter.has(1)).toBe(true);
    meter.removeSilent(SETTINGS.forgetAfterMs + 1);
    expect([meter.has(1), meter.laneCount]).toEqual([false, 0]);
  });
});

/** Costs on backends 1, 2, …, one report each, of work that comes once a second. */
function costsOf(units: readonly number[]) {
  const meter = new CostMeter(SETTINGS);
  for (let nowMs = 0; nowMs < 30_000; nowMs += 1000) {
    for (const [at, each] of units.entries()) meter.report(1, wideId(at + 1), each, Number(at === 0), nowMs);
  }
  return meter.costsOf(1, 30_000)!;
}

test.each([0.01, 1, 100])(
  'what more backends cost than a record names stands together, in sum exact, at %f units',
  (unit) => {
    for (const count of [1, BACKENDS_PER_LANE - 1, BACKENDS_PER_LANE, BACKENDS_PER_LANE + 1, BACKENDS_PER_LANE + 3]) {
      const units = Array.from({ length: count }, (_, at) => unit * (1 + at));
      const { transactions, backends } = costsOf(units);
      const costs = backends.map(({ cost }) => cost / transactions);
      const total = costs.reduce((sum, cost) => sum + cost, 0);
      expect(total / units.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 6);
      const named = backends.filter(({ backend, cost }) => backend !== NO_BACKEND && cost > 0);
      const largestFirst = [...Array(count).keys()].reverse().map((at) => wideId(at + 1));
      expect(named.map(({ backend }) => backend)).toEqual(largestFirst.slice(0, BACKENDS_PER_LANE));
      const rest = units.slice(0, Math.max(0, count - BACKENDS_PER_LANE)).reduce((sum, each) => sum + each, 0);
      const left = backends.filter(({ backend }) => backend === NO_BACKEND).map(({ cost }) => cost / transactions);
      expect(left.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(rest, 6);
    }
  },
);

test.each([
  ['the messages, where both are as tight', 10, 60, 'messages'],
  ['the cost, where it is tighter', 10.1, 60, 'cost'],
  ['the messages, where they are tighter', 9.9, 60, 'messages'],
  ['nothing', Infinity, Infinity, 'unlimited'],
] as const)('the target is bound by %s', (_, quotaMessages, totalCost, binding) => {
  const out = createDecision();
  const measured = { reservedCost: 0, expectedCost: 6, transactions: 0, cost: 0, minimumRatio: 0.001 };
  decideTarget({ ...measured, quotaMessages, totalCost, bearable: Infinity }, out);
  expect(out.binding).toBe(binding);
});
