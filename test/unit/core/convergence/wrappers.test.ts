import { describe, expect, test } from 'vitest';
import { decay } from '../../../../src/core/base/decay.js';
import { clamped } from '../../../../src/core/convergence/clamp.js';
import { strategyOf } from '../../../../src/core/convergence/compose.js';
import { equal } from '../../../../src/core/convergence/equal.js';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { slewed } from '../../../../src/core/convergence/slew.js';
import { smoothed } from '../../../../src/core/convergence/smoothing.js';
import type { Strategy } from '../../../../src/core/convergence/strategy.js';
import { GROUP } from '../../../simulation/settings.js';
import { expectShares, type Participants, roundOf, sharesOf } from './round-of.js';

test.each([0, 1e-9, 0.124, 0.125, 0.7, 1, 3.3, 12, 39.9, 40, 1e9])('e^−%f without Math.exp', (x) => {
  expect(Math.abs(decay(x) - (x < 40 ? Math.exp(-x) : 0))).toBeLessThanOrEqual(1e-13);
});

/** One node alone: the strategy gives it the target. */
const ALONE = { target: [200], demand: [[500]], applied: [[100]] };

describe('smoothing', () => {
  test.each([
    [0, 100],
    [100, 109.52],
    [250, 122.12],
    [60_000, 122.12],
  ])('after %i ms: %f', (ageMs, share) => {
    expectShares(sharesOf(smoothed(maxMin, 1000), { ...ALONE, ageMs: [ageMs] })[0], [share]);
  });

  test('two steps of half the age are one of the whole', () => {
    const half = sharesOf(smoothed(maxMin, 1000), { ...ALONE, ageMs: [120] })[0];
    const twice = sharesOf(smoothed(maxMin, 1000), { ...ALONE, applied: [half], ageMs: [120] })[0];
    expectShares(twice, sharesOf(smoothed(maxMin, 1000), { ...ALONE, ageMs: [240] })[0], 9);
  });
});

describe('slew', () => {
  const given: Participants = { target: [1000], demand: [[900]], applied: [[200]], headroom: 'none' };

  test.each([
    [0, 200],
    [100, 210],
    [250, 225],
    [60_000, 225],
  ])('after %i ms: %f', (ageMs, share) => {
    expectShares(sharesOf(slewed(maxMin, 0.1), { ...given, ageMs: [ageMs] })[0], [share]);
  });
});

describe('a range of shares', () => {
  test.each([
    ['a maximum: what is cut off goes to the others, as far as they want it', [80, 15, 5], 0, 0.5, [50, 40, 5]],
    ['a minimum: it is taken from what the others have above theirs', [90, 10, 0], 0.1, 1, [80, 10, 10]],
    ['nothing: it all stays as it was', [80, 15, 5], 0, 1, [80, 15, 5]],
  ] as const)('the worked numbers of %s', (_, given, minShareRatio, maxShareRatio, shares) => {
    const fixed: Strategy = { ...maxMin, converge: (round) => round.share[0]?.set(given) };
    const range = { minShareRatio, maxShareRatio };
    expectShares(sharesOf(clamped(fixed, range), { target: [100], demand: [[200, 40, 5]] })[0], shares);
  });
});

describe('what a group’s settings put together', () => {
  test('nothing, by default: the strategy itself', () => {
    expect(strategyOf(GROUP)).toBe(maxMin);
    expect(strategyOf({ ...GROUP, strategy: 'equal' })).toBe(equal);
  });

  test('the slew limit lies around smoothing, smoothing around the range', () => {
    const all = strategyOf({ ...GROUP, slewPerSecond: 0.1, smoothingMs: 100, maxShareRatio: 0.6 });
    const round = roundOf({ target: [1000], demand: [[900]], applied: [[200]], ageMs: [1000] });
    all.converge(round);
    expectShares(
      round.share.slice(0, 1).map(([share = 0]) => share),
      [225],
    );
    expect(round.moving[0]).toBe(1);
    expect(all.remembers).toBe(true);
    round.applied[0]?.set([900]);
    all.converge(round);
    expectShares(
      round.share.slice(0, 1).map(([share = 0]) => share),
      [600],
    );
  });

  test('by-demand and none: what a left-over becomes', () => {
    const given = { target: [100], demand: [[20, 30]] };
    expectShares(sharesOf(maxMin, { ...given, headroom: 'by-demand' })[0], [40, 60]);
    expectShares(sharesOf(maxMin, { ...given, headroom: 'none' })[0], [20, 30]);
    expectShares(sharesOf(maxMin, { target: [100], demand: [[0, 0]], headroom: 'none' })[0], [50, 50]);
  });
});
