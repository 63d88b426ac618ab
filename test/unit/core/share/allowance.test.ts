import { describe, expect, test } from 'vitest';
import { MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { allowanceOf } from '../../../../src/core/share/allowance.js';
import { type Participants, roundOf } from '../convergence/round-of.js';

const TABLE: readonly (Participants & { says: string; ratio: number; allowances: readonly number[] })[] = [
  // The worked numbers of the function's comment.
  { says: 'quiet beside a busy one', target: [1000], demand: [[2000, 20, 20]], ratio: 0.25, allowances: [0, 5, 5] },
  { says: 'headroom covers it', target: [1000], demand: [[100, 100]], ratio: 0.25, allowances: [0, 0] },
  { says: 'headroom covers a part', target: [100], demand: [[48, 48]], ratio: 0.25, allowances: [10, 10] },
  { says: 'Σ is bounded by ratio · target', target: [100], demand: [[50, 50]], ratio: 1, allowances: [50, 50] },
  { says: 'everybody wants more', target: [100], demand: [[90, 90]], ratio: 0.25, allowances: [0, 0] },
  { says: 'switched off', target: [1000], demand: [[2000, 20]], ratio: 0, allowances: [0, 0] },
  { says: 'blocked', target: [0], demand: [[20, 20]], ratio: 0.25, allowances: [0, 0] },
  { says: 'unlimited', target: [Number.POSITIVE_INFINITY], demand: [[20, 20]], ratio: 0.25, allowances: [0, 0] },
  { says: 'no demand, no noise', target: [1000], demand: [[2000, 0]], ratio: 0.25, allowances: [0, 0] },
  {
    says: 'a node short in another dimension has none in this one',
    target: [1000, 100],
    demand: [
      [980, 20],
      [980, 0],
    ],
    ratio: 0.25,
    allowances: [0, 0],
  },
];

describe('allowance', () => {
  test.each(TABLE)('$says', ({ ratio, allowances, ...participants }) => {
    const round = roundOf(participants);
    maxMin.converge(round);
    allowances.forEach((allowance, own) => {
      expect(allowanceOf(round, own, MESSAGES, ratio)).toBeCloseTo(allowance, 9);
    });
  });
});
