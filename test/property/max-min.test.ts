import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxMin } from '../../src/core/convergence/max-min.js';
import { sharesOf, total } from '../unit/core/convergence/round-of.js';
import { type Cluster, cluster } from './rounds.js';
import { runs } from './seed.js';

describe('one dimension', () => {
  test('is max-min fair: who is short has at least as much per weight as anybody who has more than it', () => {
    fc.assert(
      fc.property(cluster({ nodes: 60, dimensions: 1 }), (given) => {
        const [shares = []] = sharesOf(maxMin, { ...given, floorRatio: 0 });
        const perWeight = shares.map((share, node) => share / given.weight[node]);
        const most = Math.max(...perWeight);
        const demand = given.demand[0];
        if (total(demand) <= given.target[0]) return;
        shares.forEach((share, node) => {
          if (share >= demand[node] * (1 - 1e-9)) return;
          expect(perWeight[node]).toBeGreaterThanOrEqual(most * (1 - 1e-9));
        });
      }),
      runs(500),
    );
  });
});

/**
 * Both dimensions are wanted by several nodes, in amounts of the size of their targets: where filling them apart wastes
 * most.
 */
const contested = fc.integer({ min: 2, max: 12 }).chain((size) => {
  const wish = fc.double({ min: -1.5, max: 1, noNaN: true }).map((exponent) => (1000 / size) * 10 ** exponent);
  const column = fc.array(wish, { minLength: size, maxLength: size });
  return fc.record<Cluster>({
    target: fc.constant([1000, 1000]),
    usage: fc.constant([]),
    applied: fc.constant([]),
    ageMs: fc.constant([]),
    headroom: fc.constant('by-weight'),
    demand: fc.tuple(column, column),
    weight: fc.constant(new Array<number>(size).fill(1)),
    floorRatio: fc.constant(0.001),
  });
});

/** What node `at` can use of its demand with these shares, 0 … 1. */
function usablePart(given: Cluster, shares: readonly (readonly number[])[], at: number): number {
  const parts = given.demand.map((column, dimension) => {
    const wanted = column[at];
    return wanted > 0 ? shares[dimension]?.[at] / wanted : 1;
  });
  return Math.min(1, ...parts);
}

describe('two dimensions jointly', () => {
  test('no unit of the tightest dimension lies idle while somebody wants more', () => {
    let worst = 0;
    let cases = 0;
    fc.assert(
      fc.property(contested, (given) => {
        const floored = { ...given, floorRatio: 0.001 };
        const shares = sharesOf(maxMin, floored);
        const usable = given.weight.map((_, at) => usablePart(given, shares, at));
        if (usable.every((part) => part > 1 - 1e-9)) return;
        cases++;
        const idle = given.target.map((limit, dimension) => {
          const column = given.demand[dimension];
          return 1 - total(column.map((wanted, at) => wanted * usable[at])) / limit;
        });
        worst = Math.max(worst, Math.min(...idle));
      }),
      runs(3000),
    );
    console.log(
      `jointly: worst idle part of the tightest dimension ${(100 * worst).toExponential(1)} % in ${cases} cases`,
    );
    expect(worst).toBeLessThanOrEqual(1e-9);
    expect(cases).toBeGreaterThan(runs(1000).numRuns);
  });
});
