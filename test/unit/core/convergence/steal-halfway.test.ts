import { describe, expect, test } from 'vitest';
import { stealHalfway } from '../../../../src/core/convergence/steal-halfway.js';
import { expectShares, type Participants, sharesOf, total } from './round-of.js';

/** Rounds in which everybody applies what it was given, from `applied` on. */
function rounds(given: Participants, count: number): number[][] {
  let applied = given.applied?.[0] ?? [];
  return Array.from({ length: count }, () => {
    applied = sharesOf(stealHalfway, { ...given, applied: [applied] })[0];
    return [...applied];
  });
}

describe('the goals of PIP-82', () => {
  test('smooth and fair: 80/20 ends at 50/50, one rises and one falls all the way', () => {
    const path = rounds({ target: [100], applied: [[80, 20]], demand: [[200, 200]] }, 10);
    path.reduce(
      ([high = 0, low = 0], [nextHigh = 0, nextLow = 0]) => {
        expect(nextHigh).toBeLessThanOrEqual(high);
        expect(nextLow).toBeGreaterThanOrEqual(low);
        return [nextHigh, nextLow];
      },
      [80, 20],
    );
    expectShares(path.at(-1), [50, 50]);
  });

  test.each([
    { says: 'no under-use: allocated 70/30, wanted 80/20', demand: [80, 20], ends: [80, 20] },
    { says: 'fair: two that want 70 each of 100', demand: [70, 70], ends: [50, 50] },
  ])('$says', ({ demand, ends }) => {
    expectShares(rounds({ target: [100], applied: [[70, 30]], demand: [demand] }, 10).at(-1), ends);
  });

  test('few rounds: eight nodes of which one has everything are within 10 % of fair after six', () => {
    const shares = [800, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6];
    const path = rounds({ target: [800], applied: [shares], demand: [shares.map(() => 1000)] }, 6);
    const worst = path.map((round) => Math.max(...round.map((share) => Math.abs(share / 100 - 1))));
    console.log(`steal-halfway, one of eight has all: off by ${worst.map((part) => part.toFixed(2)).join(', ')}`);
    expect(worst[5]).toBeLessThanOrEqual(0.1);
    for (const round of path) expect(total(round)).toBeCloseTo(800, 6);
  });
});
