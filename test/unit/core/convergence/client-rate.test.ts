import { describe, expect, test } from 'vitest';
import { clientRate } from '../../../../src/core/convergence/client-rate.js';
import { expectShares, type Participants, sharesOf } from './round-of.js';

/** From `applied` on; everybody applies what it was given. */
function rounds(given: Participants, count: number): number[][] {
  let applied = given.applied?.[0] ?? [];
  return Array.from({ length: count }, () => {
    applied = sharesOf(clientRate, { ...given, applied: [applied] })[0];
    return [...applied];
  });
}

const FROM_TEN_EACH: Participants = { target: [20], demand: [[5, 25]], applied: [[10, 10]] };

describe('client-rate', () => {
  test('the number moves until Σ usage meets the target: 13.3, 14.5, 14.9 … 15', () => {
    const path = rounds({ ...FROM_TEN_EACH, headroom: 'none' }, 12);
    expectShares(
      path.slice(0, 3).map(([, busy = 0]) => busy),
      [13.33, 14.55, 14.88],
    );
    expectShares(path.at(-1), [5, 15]);
  });

  test('headroom is handed out on the way, and it is faster', () => {
    const [first = []] = rounds(FROM_TEN_EACH, 1);
    expectShares(first, [5.83, 14.17]);
    expectShares(rounds(FROM_TEN_EACH, 12).at(-1), [5, 15]);
  });

  test.each<Participants & { says: string; messages: readonly number[] }>([
    {
      says: 'a joiner: too large a number is levelled at once',
      target: [90],
      applied: [[45, 45, 0.03]],
      demand: [[200, 200, 200]],
      messages: [30, 30, 30],
    },
    { says: 'a halved target', target: [50], applied: [[50, 50]], demand: [[200, 200]], messages: [25, 25] },
    {
      says: 'weights',
      target: [90],
      applied: [[60, 30]],
      demand: [[200, 200]],
      weight: [2, 1],
      messages: [60, 30],
    },
    {
      says: 'the number is that of the trimmed, not what the quiet hold: 5 · 20/10 for all',
      target: [20],
      applied: [[15, 5]],
      demand: [[5, 25]],
      headroom: 'none',
      messages: [5, 10],
    },
    {
      says: 'of several trimmed ones the largest is meant: 8 · 30/18',
      target: [30],
      applied: [[8, 2]],
      demand: [[100, 10]],
      headroom: 'none',
      messages: [15, 10],
    },
    { says: 'cold', target: [90], demand: [[0, 0, 0]], messages: [30, 30, 30] },
    { says: 'nothing known but demand', target: [90], demand: [[10, 200, 200]], messages: [10.95, 39.52, 39.52] },
    { says: 'blocked', target: [0], applied: [[5]], demand: [[5]], messages: [0] },
  ])('$says', ({ messages, ...participants }) => {
    expectShares(sharesOf(clientRate, participants)[0], messages);
  });

  test('200 clients of 5/s are held at 100/s, where a floor of 1 each would let 200/s pass for ever', () => {
    const many = new Array<number>(200).fill(5);
    const [shares = []] = sharesOf(clientRate, { target: [100], demand: [many], applied: [many], floorRatio: 0.001 });
    expectShares(shares, new Array<number>(200).fill(0.5));
  });
});

test('nobody trimmed: the number is what the richest applies, and everybody is served', () => {
  const [shares = []] = sharesOf(clientRate, { target: [100], demand: [[30, 10]], applied: [[60, 40]] });
  expectShares(shares, [60, 40]);
  expect(shares[0]).toBeGreaterThan(30);
});
