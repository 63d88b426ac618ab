import { describe, expect, test } from 'vitest';
import { decay } from '../../../../src/core/base/decay.js';
import { strategyOf } from '../../../../src/core/convergence/compose.js';
import { equal } from '../../../../src/core/convergence/equal.js';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { GROUP } from '../../../simulation/settings.js';
import { expectShares, roundOf, sharesOf } from './round-of.js';

test.each([0, 1e-9, 0.124, 0.125, 0.7, 1, 3.3, 12, 39.9, 40, 1e9])('e^−%f without Math.exp', (x) => {
  expect(Math.abs(decay(x) - (x < 40 ? Math.exp(-x) : 0))).toBeLessThanOrEqual(1e-13);
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
