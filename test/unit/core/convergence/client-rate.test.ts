import { describe, test } from 'vitest';
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

  test('200 clients of 5/s are held at 100/s, where a floor of 1 each would let 200/s pass for ever', () => {
    const many = new Array<number>(200).fill(5);
    const [shares = []] = sharesOf(clientRate, { target: [100], demand: [many], applied: [many], floorRatio: 0.001 });
    expectShares(shares, new Array<number>(200).fill(0.5));
  });
});
