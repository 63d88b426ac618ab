import { describe, test } from 'vitest';
import { proportional } from '../../../../src/core/convergence/proportional.js';
import { expectShares, type Participants, sharesOf } from './round-of.js';

const TABLE: readonly (Participants & { readonly says: string; readonly messages: readonly number[] })[] = [
  // The worked numbers of the strategy's comment.
  { says: '10 left over', target: [100], usage: [[10, 50, 30]], messages: [11.11, 55.56, 33.33] },
  { says: '50 over', target: [100], usage: [[30, 60, 60]], messages: [20, 40, 40] },
  {
    says: 'no usage: equal split, never the whole target for each',
    target: [90],
    usage: [[0, 0, 0]],
    messages: [30, 30, 30],
  },
  { says: 'no usage: split by weight', target: [90], usage: [[0, 0]], weight: [2, 1], messages: [60, 30] },
  { says: '80/20 stays 80/20', target: [100], usage: [[80, 20]], messages: [80, 20] },
  {
    says: 'a node without usage keeps its floor',
    target: [100],
    usage: [[100, 0]],
    floorRatio: 0.1,
    messages: [95, 5],
  },
  {
    says: 'floors are taken from those above theirs',
    target: [100],
    usage: [[90, 10, 0]],
    floorRatio: 0.3,
    messages: [80, 10, 10],
  },
  { says: 'floor ratio 1 is equal shares', target: [100], usage: [[100, 0]], floorRatio: 1, messages: [50, 50] },
  { says: 'blocked', target: [0], usage: [[5, 5]], messages: [0, 0] },
  {
    says: 'unlimited',
    target: [Infinity],
    usage: [[5, 5]],
    messages: [Infinity, Infinity],
  },
];

describe('proportional', () => {
  test.each(TABLE)('$says', ({ messages, ...participants }) => {
    expectShares(sharesOf(proportional, participants)[0], messages);
  });

  test('dimensions are split apart', () => {
    const shares = sharesOf(proportional, {
      target: [100, 1000],
      usage: [
        [10, 40],
        [300, 100],
      ],
    });
    expectShares(shares[0], [20, 80]);
    expectShares(shares[1], [750, 250]);
  });
});
