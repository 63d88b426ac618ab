import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clamped } from '../../src/core/convergence/clamp.js';
import { slewed } from '../../src/core/convergence/slew.js';
import { smoothed } from '../../src/core/convergence/smoothing.js';
import { STRATEGIES } from '../../src/core/convergence/strategies.js';
import type { Strategy } from '../../src/core/convergence/strategy.js';
import { expectShares, roundOf, sharesOf } from '../unit/core/convergence/round-of.js';
import { plainMaxMin } from './plain-max-min.js';
import { type Cluster, cluster, evenCluster } from './rounds.js';
import { runs } from './seed.js';
import { appliedWithin, type Held, plainClamp, plainSlew, plainSmooth, TWINS, twinShares } from './twins.js';

/** Beyond the first room of every scratch array, and beyond each doubling, in the order in which they grow. */
const SIZES = [64, 65, 128, 129, 257];
/** Bisection and sums of small numbers; a part of the target. */
const TOLERANCE = 1e-7;

const STRATEGY_ROWS = Object.entries(STRATEGIES);
const isLimited = (limit: number) => limit > 0 && limit !== Infinity;

function expectSame(shares: readonly number[][], right: readonly (readonly number[])[], { target }: Cluster): void {
  right.forEach((column, dimension) => {
    column.forEach((expected, node) => {
      const share = shares[dimension]?.[node];
      if (share === expected) return;
      if (!(Math.abs(share - expected) <= TOLERANCE * target[dimension]))
        throw new Error(`dimension ${dimension}, node ${node}: ${share} instead of ${expected}`);
    });
  });
}

/** Small numbers, and rates of all magnitudes: of both the law is asked. */
const anyCluster = fc.oneof({ weight: 3, arbitrary: evenCluster() }, cluster({ nodes: 20 }));

describe.each(STRATEGY_ROWS.filter(([name]) => name !== 'max-min'))('%s', (name, strategy) => {
  test('gives in both dimensions what its plain twin gives', () => {
    fc.assert(
      fc.property(anyCluster, (given) => expectSame(sharesOf(strategy, given), twinShares(name, given), given)),
      runs(600),
    );
  });
});

test('max-min gives what its plain twin gives, of small numbers as well', () => {
  fc.assert(
    fc.property(evenCluster(), (each) => {
      const given = { ...each, headroom: 'by-weight' as const };
      const fast = sharesOf(STRATEGIES['max-min'], given);
      plainMaxMin(given).forEach((column, dimension) => {
        column.forEach((right, node) => {
          const share = fast[dimension]?.[node];
          // Sweeps end when levels move by less than 1e-5 of themselves: rounding may make it one more or less.
          if (share === right || Math.abs(share - right) <= 1e-4 * given.target[dimension]) return;
          throw new Error(`dimension ${dimension}, node ${node}: ${share}, plain ${right}`);
        });
      });
    }),
    runs(600),
  );
});

type Plain = (lane: Cluster, goals: readonly number[]) => Held;

const HELD_BACK: readonly (readonly [string, (strategy: Strategy) => Strategy, Plain])[] = [
  ['smoothed by 1 s', (each) => smoothed(each, 1000), (lane, goals) => plainSmooth(lane, goals, 1000)],
  ['smoothed by 50 ms', (each) => smoothed(each, 50), (lane, goals) => plainSmooth(lane, goals, 50)],
  ['slewed by half a target', (each) => slewed(each, 0.5), (lane, goals) => plainSlew(lane, goals, 0.5)],
  ['slewed by four targets', (each) => slewed(each, 4), (lane, goals) => plainSlew(lane, goals, 4)],
];

function expectHeldAlike(
  strategy: Strategy,
  wrap: (strategy: Strategy) => Strategy,
  plain: Plain,
  given: Cluster,
): void {
  const held = sharesOf(strategy, given).map((goals, dimension) => {
    if (!isLimited(given.target[dimension])) return { shares: goals, moving: goals.map(() => 0) };
    return plain(laneOf(given, dimension), goals);
  });
  const round = roundOf(given);
  wrap(strategy).converge(round);
  const shares = round.share.map((column) => Array.from(column.subarray(0, round.count)));
  const right = held.map((each) => each.shares);
  expectSame(shares, right, given);
  given.weight.forEach((_, node) => {
    const isMoving = held.some(({ moving }) => moving[node] === 1);
    if (round.moving[node] !== Number(isMoving)) throw new Error(`node ${node}: moving ${round.moving[node]}`);
  });
}

const RANGES = [
  { minShareRatio: 0, maxShareRatio: 1 },
  { minShareRatio: 0.1, maxShareRatio: 1 },
  { minShareRatio: 0, maxShareRatio: 0.25 },
  { minShareRatio: 0.1, maxShareRatio: 0.5 },
  { minShareRatio: 0.5, maxShareRatio: 0.5 },
  { minShareRatio: 0.9, maxShareRatio: 0.25 },
];

function expectClampedAlike(strategy: Strategy, range: (typeof RANGES)[number], given: Cluster): void {
  const free = sharesOf(strategy, { ...given, applied: appliedWithin(given, range) });
  const right = free.map((column, dimension) => {
    if (!isLimited(given.target[dimension])) return column;
    return plainClamp(laneOf(given, dimension), column, range);
  });
  expectSame(sharesOf(clamped(strategy, range), given), right, given);
}

describe.each(STRATEGY_ROWS)('%s', (name, strategy) => {
  test.each(HELD_BACK)(
    '%s: what is held back, and who is on the way, is what the plain wrapper says',
    (_, wrap, plain) => {
      fc.assert(
        fc.property(evenCluster(), (given) => expectHeldAlike(strategy, wrap, plain, given)),
        runs(200),
      );
      expect(wrap(strategy).remembers).toBe(true);
    },
  );

  test('within a range of shares it gives what the plain range makes of it', () => {
    fc.assert(
      fc.property(evenCluster(), fc.constantFrom(...RANGES), (given, range) => {
        expectClampedAlike(strategy, range, given);
      }),
      runs(400),
    );
  });

  test('in clusters of any size they all agree, while these grow and afterwards', () => {
    for (const size of [...SIZES, 3]) {
      for (const each of fc.sample(evenCluster(fc.constant(size)), { numRuns: 3, seed: size })) {
        // In a single dimension, max-min has the same twin as the others.
        const given = name === 'max-min' ? { ...each, target: [12 * size, Infinity] } : each;
        expectSame(sharesOf(strategy, given), twinShares(name, given), given);
        for (const [, wrap, plain] of HELD_BACK) expectHeldAlike(strategy, wrap, plain, given);
        for (const range of RANGES) expectClampedAlike(strategy, range, given);
      }
    }
  });
});

/** One dimension as if it were the only one. */
function laneOf(given: Cluster, dimension: number): Cluster {
  const pick = <T>(columns: readonly T[]) => [columns[dimension]];
  const { target, usage, demand, applied } = given;
  return { ...given, target: pick(target), usage: pick(usage), demand: pick(demand), applied: pick(applied) };
}

test.each(STRATEGY_ROWS)(
  '%s says of itself what its row says, and gives the worked numbers of its comment',
  (key, strategy) => {
    const { says, worked } = TWINS[key];
    const { name, converge: _, ...flags } = strategy;
    expect([name, flags]).toEqual([key, says]);
    expect(worked).not.toHaveLength(0);
    for (const { shares, ...given } of worked) {
      const is = sharesOf(strategy, given);
      shares.forEach((column, dimension) => {
        expectShares(is[dimension], column);
      });
    }
  },
);

test('a strategy without a twin is told by its name', () => {
  expect(() => twinShares('fair', {} as Cluster)).toThrow('strategy fair has no twin here');
});
