import { describe, test } from 'vitest';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { expectShares, type Participants, sharesOf } from './round-of.js';

interface Row extends Participants {
  readonly says: string;
  readonly messages: readonly number[];
  readonly bytes?: readonly number[];
}

const TABLE: readonly Row[] = [
  // The worked numbers of the strategy's comment; test/property holds it to a plain twin.
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
];

describe('max-min', () => {
  test.each(TABLE)('$says', ({ messages, bytes, ...participants }) => {
    const shares = sharesOf(maxMin, participants);
    expectShares(shares[0], messages);
    if (bytes !== undefined) expectShares(shares[1], bytes);
  });
});
