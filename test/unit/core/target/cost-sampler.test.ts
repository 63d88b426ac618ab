import { describe, expect, test } from 'vitest';
import { Random } from '../../../../sim/cluster/random.js';
import { CostMeter, sumOfCosts } from '../../../../src/core/target/cost-meter.js';
import { CostSampler } from '../../../../src/core/target/cost-sampler.js';
import { someOf } from '../../../property/seed.js';
import { wideId } from '../../../wide-ids.js';

const SIZE = 100;
const SEEDS = someOf(Array.from({ length: 50 }, (_, seed) => seed + 1));
/** Costs of each cycle add up to 100 units or not, so that no pattern of the points can hide. */
const CYCLES = [[1], [10], [33], [99.9], [50, 50], [10, 90], [0, 0.5, 250, 7], [100, 3]];

describe('what is counted of costs that are sampled by size', () => {
  test.each(CYCLES.map((cycle) => [cycle]))('is never a whole size away from what was spent: %j', (cycle) => {
    for (const seed of SEEDS) {
      const sampler = samplerOf(seed);
      let [spent, counted, worst] = [0, 0, 0];
      for (let at = 0; at < 2000; at++) {
        const units = cycle[at % cycle.length];
        spent += units;
        counted += sampler.take(units);
        worst = Math.max(worst, Math.abs(counted - spent));
      }
      expect(worst, `seed ${seed}`).toBeLessThan(SIZE + 1e-6);
    }
  });

  test.each(CYCLES.map((cycle) => [cycle]))('is right on average for each part of the cycle by itself: %j', (cycle) => {
    const cycles = 20_000 / cycle.length;
    cycle.forEach((units, part) => {
      let counted = 0;
      const sampler = samplerOf(7);
      for (let at = 0; at < cycles * cycle.length; at++) {
        const taken = sampler.take(cycle[at % cycle.length]);
        if (at % cycle.length === part) counted += taken;
      }
      // Four standard deviations of draws that know nothing of each other, and what is counted exactly at first.
      const bound = 4 * Math.sqrt(cycles * units * Math.max(0, SIZE - units)) + SIZE;
      expect(Math.abs(counted - cycles * units), `${units} units`).toBeLessThanOrEqual(bound);
    });
  });

  test('has the probability that follows from the size, whatever came before', () => {
    for (const units of [1, 10, 60]) {
      let hits = 0;
      for (let seed = 1; seed <= 20_000; seed++) {
        const sampler = samplerOf(seed);
        sampler.take(SIZE - 1);
        sampler.take(1);
        sampler.take(37);
        hits += sampler.take(units) / SIZE;
      }
      const probability = units / SIZE;
      const deviation = Math.sqrt((probability * (1 - probability)) / 20_000);
      expect(Math.abs(hits / 20_000 - probability)).toBeLessThan(4 * deviation);
    }
  });
});

describe('a meter that samples', () => {
  const settings = { smoothingMs: 10_000, forgetAfterMs: 240_000, maxLanes: 10 };

  test('counts each piece of work, and rates within 2 × sampleUnits / smoothing of the exact ones', () => {
    const exact = new CostMeter({ ...settings, sampleUnits: 0 });
    const random = new Random(1);
    const sampled = new CostMeter({ ...settings, sampleUnits: SIZE }, () => random.next());
    let worst = 0;
    for (let ms = 0; ms < 120_000; ms += 10) {
      const [backend, units] = [1 + (ms % 3), random.between(0, 20)];
      for (const meter of [exact, sampled]) meter.report(0, wideId(backend), units, 1, ms);
      if (ms < 60_000) continue;
      const [right, found] = [exact, sampled].map((meter) => meter.costsOf(0, ms)!);
      expect(found.transactions).toBe(right.transactions);
      worst = Math.max(worst, Math.abs(sumOfCosts(found) - sumOfCosts(right)));
    }
    expect(sampled.takeNews(0)).toEqual(exact.takeNews(0));
    console.log(`1,000 units/s in pieces of 0 to 20: at most ${worst.toFixed(1)} units/s off; the bound is 20`);
    expect(worst).toBeLessThan(20);
    expect(worst).toBeGreaterThan(0);
  });

  test('knows what work costs from the first report on', () => {
    const meter = new CostMeter({ ...settings, sampleUnits: SIZE }, () => 0.999);
    meter.report(0, wideId(1), 6, 1, 0);
    expect(meter.costsOf(0, 0)?.backends).toEqual([{ backend: wideId(1), cost: expect.any(Number) }]);
  });
});

function samplerOf(seed: number): CostSampler {
  const random = new Random(seed);
  return new CostSampler(SIZE, () => random.next());
}
