import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clamped } from '../../src/core/convergence/clamp.js';
import { lending } from '../../src/core/convergence/lending.js';
import { maxMin } from '../../src/core/convergence/max-min.js';
import { slewed } from '../../src/core/convergence/slew.js';
import { smoothed } from '../../src/core/convergence/smoothing.js';
import { STRATEGIES } from '../../src/core/convergence/strategies.js';
import type { Strategy } from '../../src/core/convergence/strategy.js';
import { sharesOf, total } from '../unit/core/convergence/round-of.js';
import { type Cluster, cluster, reordered, scaled } from './rounds.js';
import { runs } from './seed.js';
import { TWINS } from './twins.js';

/** Rounding of sums of hundreds of doubles; a part of the amounts compared. */
const ROUNDING = 1e-9;

function close(left: number, right: number, scale: number, tolerance = ROUNDING): boolean {
  return Math.abs(left - right) <= tolerance * Math.max(scale, Math.abs(left), Math.abs(right));
}

/** The one strategy whose shares may add up to more than the target. Named here, so that no other may. */
const OVERSHOOTS = 'equal-residual';

/** Lending cuts what is too much. */
function mayOvershoot(name: string): boolean {
  return name.split(',')[0] === OVERSHOOTS && !name.endsWith(', lending');
}

/** Σ that a strategy may reach: the target, or what equal-residual's source text accepts. */
function mostOf(name: string, { target, usage, floorRatio }: Cluster, dimension: number): number {
  const limit = target[dimension];
  if (!mayOvershoot(name)) return limit;
  const column = usage[dimension];
  const residual = Math.max(0, limit - total(column));
  return limit + (column.length - 1) * residual + floorRatio * limit;
}

const RANGE = { minShareRatio: 0.02, maxShareRatio: 0.3 };

/** Every strategy alone and in every wrapper, and one in all of them. */
const WRAPPED: readonly (readonly [string, Strategy])[] = [
  ...Object.entries(STRATEGIES),
  ...Object.entries(STRATEGIES).map(([name, plain]) => [`${name}, smoothed`, smoothed(plain, 5000)] as const),
  ...Object.entries(STRATEGIES).map(([name, plain]) => [`${name}, slewed`, slewed(plain, 0.05)] as const),
  ...Object.entries(STRATEGIES)
    .filter(([, { meetsAll, agreesOnPool }]) => !meetsAll && !agreesOnPool)
    .map(([name, plain]) => [`${name}, lending`, lending(plain)] as const),
  ['max-min in all wrappers', slewed(smoothed(clamped(maxMin, { minShareRatio: 0, maxShareRatio: 1 }), 5000), 0.05)],
];

describe.each(WRAPPED)('%s', (name, strategy) => {
  test('is finite, ≥ 0, and Σ shares ≤ target (or the documented overshoot)', () => {
    fc.assert(
      fc.property(cluster(), (given) => {
        sharesOf(strategy, given).forEach((column, dimension) => {
          for (const share of column) if (!(share >= 0 && share < Infinity)) throw new Error(`share ${share}`);
          expect(total(column)).toBeLessThanOrEqual(mostOf(name, given, dimension) * (1 + ROUNDING));
        });
      }),
      runs(100),
    );
  });

  test('starves nobody: floorRatio · target · w/Σw', () => {
    fc.assert(
      fc.property(cluster(), (given) => {
        const weights = total(given.weight);
        sharesOf(strategy, given).forEach((column, dimension) => {
          const limit = given.target[dimension];
          column.forEach((share, node) => {
            const floor = (given.floorRatio * limit * given.weight[node]) / weights;
            if (share < floor * (1 - ROUNDING) - limit * 1e-15)
              throw new Error(`share ${share} below the floor ${floor}`);
          });
        });
      }),
      runs(80),
    );
  });

  test('is blind to the order of nodes', () => {
    const shuffled = cluster({ nodes: 60 }).chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray([...given.weight.keys()], { minLength: given.weight.length })),
    );
    fc.assert(
      fc.property(shuffled, ([given, order]) => {
        const plain = sharesOf(strategy, given);
        sharesOf(strategy, reordered(given, order)).forEach((column, dimension) => {
          column.forEach((share, at) => {
            const same = plain[dimension]?.[order[at]];
            if (!close(share, same, given.target[dimension], 1e-6)) throw new Error(`${share} ≠ ${same}`);
          });
        });
      }),
      runs(100),
    );
  });

  test('is scale-free', () => {
    fc.assert(
      fc.property(cluster({ nodes: 60 }), fc.constantFrom(2 ** -20, 2 ** 20), (given, factor) => {
        const plain = sharesOf(strategy, given);
        // Powers of two scale without rounding, so the comparison may be strict.
        sharesOf(strategy, scaled(given, factor)).forEach((column, dimension) => {
          column.forEach((share, node) => {
            const expected = plain[dimension]?.[node] * factor;
            if (!close(share, expected, 0, 1e-9)) throw new Error(`${share} ≠ ${expected}`);
          });
        });
      }),
      runs(100),
    );
  });

  test('at a cold start everybody gets target · w/Σw', () => {
    fc.assert(
      fc.property(cluster(), (given) => {
        const silent = { ...given, usage: given.usage.map(zeros), demand: given.demand.map(zeros), applied: [] };
        const weights = total(given.weight);
        sharesOf(strategy, silent).forEach((column, dimension) => {
          const limit = given.target[dimension];
          column.forEach((share, node) => {
            const expected = (limit * given.weight[node]) / weights;
            if (!close(share, expected, 0, 1e-9)) throw new Error(`${share} ≠ ${expected}`);
          });
        });
      }),
      runs(80),
    );
  });
});

describe.each([
  // Where a dimension is asked what another lets a node use, more of the one may be less of the other.
  ...Object.entries(STRATEGIES).map(([name, strategy]) => {
    return {
      name,
      dimensions: strategy === maxMin || TWINS[name].asksTheOther ? (1 as const) : (2 as const),
      strategy,
    };
  }),
  { name: 'max-min, slewed', dimensions: 1 as const, strategy: slewed(maxMin, 0.05) },
  { name: 'max-min, smoothed', dimensions: 1 as const, strategy: smoothed(maxMin, 5000) },
  { name: 'max-min, clamped', dimensions: 1 as const, strategy: clamped(maxMin, RANGE) },
])('$name', ({ dimensions, strategy }) => {
  test(`never gives less of a larger target (${dimensions} dimension${dimensions > 1 ? 's' : ''})`, () => {
    fc.assert(
      fc.property(cluster({ nodes: 60, dimensions }), fc.double({ min: 1, max: 10, noNaN: true }), (given, factor) => {
        const larger = { ...given, target: given.target.map((limit) => limit * factor) };
        const before = sharesOf(strategy, given);
        sharesOf(strategy, larger)
          .slice(0, dimensions)
          .forEach((column, dimension) => {
            column.forEach((share, node) => {
              const slack = ROUNDING * larger.target[dimension];
              expect(share).toBeGreaterThanOrEqual(before[dimension]?.[node] - slack);
            });
          });
      }),
      runs(100),
    );
  });
});

describe.each(Object.entries(STRATEGIES))('%s within a range of shares', (name, plain) => {
  test('lies in the range, and Σ shares is at most what it was or the minimums make', () => {
    fc.assert(
      fc.property(cluster({ nodes: 60 }), (given) => {
        const free = sharesOf(plain, given);
        sharesOf(clamped(plain, RANGE), given).forEach((column, dimension) => {
          const limit = given.target[dimension];
          const least = limit * Math.min(RANGE.minShareRatio, 1 / column.length);
          for (const share of column) {
            if (share < least * (1 - ROUNDING) || share > RANGE.maxShareRatio * limit * (1 + ROUNDING))
              throw new Error(`share ${share} of ${limit}`);
          }
          const most = Math.max(total(free[dimension]), mostOf(name, given, dimension));
          expect(total(column)).toBeLessThanOrEqual(most * (1 + ROUNDING));
        });
      }),
      runs(60),
    );
  });
});

function zeros(column: readonly number[]): number[] {
  return column.map(() => 0);
}
