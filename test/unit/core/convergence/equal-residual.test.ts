import { describe, expect, test } from 'vitest';
import { equalResidual } from '../../../../src/core/convergence/equal-residual.js';
import { expectShares, type Participants, sharesOf, total } from './round-of.js';

const TABLE: readonly (Participants & { readonly says: string; readonly messages: readonly number[] })[] = [
  // The worked numbers of the strategy's comment.
  { says: '10 left over, added by everybody', target: [100], usage: [[10, 50, 30]], messages: [20, 60, 40] },
  {
    says: 'no usage: equal split, never the whole target for each',
    target: [90],
    usage: [[0, 0, 0]],
    messages: [30, 30, 30],
  },
  { says: 'nothing left: the usage stays', target: [100], usage: [[60, 40]], messages: [60, 40] },
  { says: '50 over: reduction in proportion', target: [100], usage: [[30, 60, 60]], messages: [20, 40, 40] },
  { says: 'over, with floors', target: [100], usage: [[200, 0]], floorRatio: 0.1, messages: [95, 5] },
  {
    says: 'hardly anything left: a node without usage keeps its floor',
    target: [100],
    usage: [[99.99, 0]],
    floorRatio: 0.1,
    messages: [100, 5],
  },
  { says: 'one node alone gets the target', target: [100], usage: [[30]], messages: [100] },
  { says: 'blocked', target: [0], usage: [[5, 5]], messages: [0, 0] },
  { says: 'unlimited', target: [Infinity], usage: [[5, 5]], messages: [Infinity, Infinity] },
];

describe('equal-residual', () => {
  test.each(TABLE)('$says', ({ messages, ...participants }) => {
    expectShares(sharesOf(equalResidual, participants)[0], messages);
  });

  test('overshoots by (n − 1) · residual, as documented', () => {
    const [messages] = sharesOf(equalResidual, { target: [100], usage: [[10, 50, 30]] });
    expect(total(messages ?? [])).toBe(120);
  });
});
