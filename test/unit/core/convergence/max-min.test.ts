import { describe, expect, test } from 'vitest';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { expectShares, type Participants, sharesOf, total } from './round-of.js';

const INFINITY = Infinity;

interface Row extends Participants {
  readonly says: string;
  readonly messages: readonly number[];
  readonly bytes?: readonly number[];
}

const TABLE: readonly Row[] = [
  // The worked numbers of the strategy's comment.
  { says: 'both want more', target: [100], demand: [[70, 70]], messages: [50, 50] },
  { says: 'one wants little', target: [100], demand: [[10, 80, 80]], messages: [10, 45, 45] },
  { says: 'left-over is headroom', target: [100], demand: [[20, 30]], messages: [45, 55] },
  { says: 'nobody wants anything', target: [100], demand: [[0, 0, 0, 0]], messages: [25, 25, 25, 25] },
  {
    says: 'jointly: nothing lies idle',
    target: [100, 1000],
    demand: [
      [100, 100],
      [2000, 100],
    ],
    messages: [47.37, 52.63],
    bytes: [947.37, 52.63],
  },
  // The two splits.
  { says: '2000 + 20 + 20', target: [1000], demand: [[2000, 20, 20]], messages: [960, 20, 20] },
  { says: '80/20 and both want all', target: [1000], demand: [[1600, 1600]], messages: [500, 500] },
  // Weights and floors.
  { says: 'weights', target: [90], demand: [[100, 100]], weight: [2, 1], messages: [60, 30] },
  { says: 'weights, one satisfied', target: [90], demand: [[10, 100, 100]], weight: [5, 3, 1], messages: [10, 60, 20] },
  { says: 'cold start by weight', target: [90], demand: [[0, 0]], weight: [2, 1], messages: [60, 30] },
  { says: 'floors first', target: [100], demand: [[1000, 0]], floorRatio: 0.1, messages: [95, 5] },
  { says: 'floor ratio 1 is equal shares', target: [100], demand: [[1000, 0]], floorRatio: 1, messages: [50, 50] },
  // Silent cases.
  { says: 'one node alone', target: [100], demand: [[7]], messages: [100] },
  { says: 'unlimited', target: [INFINITY], demand: [[7, 8]], messages: [INFINITY, INFINITY] },
  { says: 'blocked', target: [0], demand: [[7, 8]], messages: [0, 0] },
  {
    says: 'only bytes are limited',
    target: [INFINITY, 10],
    demand: [
      [1, 1],
      [100, 100],
    ],
    messages: [INFINITY, INFINITY],
    bytes: [5, 5],
  },
  {
    says: 'a blocked dimension stops a node in the others too, where it wants the blocked one',
    target: [100, 0],
    demand: [
      [100, 100],
      [50, 0],
    ],
    messages: [0, 100],
    bytes: [0, 0],
  },
];

describe('max-min', () => {
  test.each(TABLE)('$says', ({ messages, bytes, ...participants }) => {
    const shares = sharesOf(maxMin, participants);
    expectShares(shares[0], messages);
    if (bytes !== undefined) expectShares(shares[1], bytes);
  });

  test('a tiny part of the target is a tiny share, not none', () => {
    const [messages] = sharesOf(maxMin, { target: [1000], demand: [[1e9, 1e-6]] });
    expect(messages?.[1]).toBeCloseTo(1e-6, 12);
    expect(total(messages ?? [])).toBeCloseTo(1000, 9);
  });

  test('scratch space of a larger round does not leak into a smaller one', () => {
    sharesOf(maxMin, { target: [1e6], demand: [Array.from({ length: 500 }, (_, at) => at * 100)] });
    expectShares(sharesOf(maxMin, { target: [100], demand: [[10, 80, 80]] })[0], [10, 45, 45]);
  });
});
