import { describe, expect, test } from 'vitest';
import { clientRate } from '../../../../src/core/convergence/client-rate.js';
import { strategyOf } from '../../../../src/core/convergence/compose.js';
import { equalResidual } from '../../../../src/core/convergence/equal-residual.js';
import { lending } from '../../../../src/core/convergence/lending.js';
import { proportional } from '../../../../src/core/convergence/proportional.js';
import { stealHalfway } from '../../../../src/core/convergence/steal-halfway.js';
import { STRATEGIES } from '../../../../src/core/convergence/strategies.js';
import type { Strategy } from '../../../../src/core/convergence/strategy.js';
import { GATED, GROUP } from '../../../simulation/settings.js';
import { expectShares, type Participants, sharesOf } from './round-of.js';

interface Case extends Participants {
  readonly says: string;
  readonly strategy: Strategy;
  readonly shares: readonly number[];
}

test.each<Case>([
  {
    says: 'what the first leaves is divided between the others by their shares, at once',
    strategy: proportional,
    target: [1000],
    usage: [[300, 150, 50]],
    demand: [[300, 2000, 2000]],
    shares: [300, 525, 175],
  },
  {
    says: 'nobody is given more than it wants while another wants more',
    strategy: proportional,
    target: [1000],
    usage: [[300, 150, 50]],
    demand: [[300, 400, 2000]],
    shares: [300, 400, 300],
  },
  {
    says: 'PIP-82: 80/20 stays 80/20 although both want more',
    strategy: proportional,
    target: [100],
    usage: [[80, 20]],
    demand: [[200, 200]],
    shares: [80, 20],
  },
  {
    says: 'where all are met, whoever wants more than its share has it, out of what the others have above theirs',
    strategy: proportional,
    target: [100],
    usage: [[60, 20, 20]],
    demand: [[10, 40, 10]],
    shares: [130 / 3, 40, 50 / 3],
  },
  {
    says: 'PIP-82: 10/50/30 is 20/60/40, which is 120; all want more: cut to its own next round',
    strategy: equalResidual,
    target: [100],
    usage: [[10, 50, 30]],
    demand: [[100, 100, 100]],
    shares: [100 / 6, 50, 100 / 3],
  },
  {
    says: '20/60/40 of which the second wants 50 alone: the others take the rest by their shares',
    strategy: equalResidual,
    target: [100],
    usage: [[10, 50, 30]],
    demand: [[100, 50, 100]],
    shares: [50 / 3, 50, 100 / 3],
  },
  {
    says: 'two thirds on the way to one number: the throttled are there at once',
    strategy: clientRate,
    target: [20],
    demand: [[5, 25]],
    applied: [[10, 10]],
    shares: [5, 15],
  },
  {
    says: 'PIP-82: half of the gap, and no more at once',
    strategy: stealHalfway,
    target: [100],
    demand: [[100, 100, 100, 100]],
    applied: [[100, 0, 0, 0]],
    shares: [50, 16.67, 16.67, 16.67],
  },
  {
    says: 'a node without a share takes what the others leave',
    strategy: proportional,
    target: [100],
    usage: [[30, 0]],
    demand: [[30, 50]],
    shares: [50, 50],
  },
  {
    says: 'and nothing where they leave nothing, but its floor',
    strategy: proportional,
    target: [100],
    usage: [[30, 0]],
    demand: [[300, 50]],
    floorRatio: 0.1,
    shares: [95, 5],
  },
  {
    says: 'nobody wants anything: the strategy’s shares',
    strategy: proportional,
    target: [100],
    demand: [[0, 0]],
    shares: [50, 50],
  },
])('$strategy.name: $says', ({ strategy, shares, ...participants }) => {
  expectShares(sharesOf(lending(strategy), participants)[0], shares);
});

test('what bytes refuse is not wanted of messages, and goes to the others', () => {
  const [messages, bytes] = sharesOf(lending(proportional), {
    target: [1000, 10_000],
    usage: [
      [500, 500],
      [9000, 1000],
    ],
    demand: [
      [900, 900],
      [90_000, 1000],
    ],
  });
  expectShares(bytes, [9000, 1000]);
  expectShares(messages, [100, 900]);
});

/** The rounds of the source: each node uses what it wants of its share, and the next round begins with that. */
function rounds(strategy: Strategy, given: Participants): readonly number[] {
  let [used] = given.usage as [readonly number[]];
  const [wanted] = given.demand as [readonly number[]];
  for (let round = 0; round < 200; round++) {
    const share = sharesOf(strategy, { ...given, usage: [used] })[0];
    used = share.map((each, at) => Math.min(each, wanted[at]));
  }
  return used;
}

describe('the rounds of PIP-82’s usage distribution end where the bucket is at once', () => {
  test.each([
    { usage: [300, 150, 50], demand: [300, 2000, 2000] },
    { usage: [100, 150, 50], demand: [100, 400, 2000] },
    { usage: [500, 300, 200], demand: [900, 100, 900] },
  ])('$usage of 1,000, wanted $demand', ({ usage, demand }) => {
    const given = { target: [1000], usage: [usage], demand: [demand] };
    const at = sharesOf(lending(proportional), given)[0];
    expectShares(
      at.map((share, node) => Math.min(share, demand[node])),
      rounds(proportional, given),
    );
  });
});

describe('which strategies lend', () => {
  test.each(Object.keys(STRATEGIES))('%s', (name) => {
    const { meetsAll, agreesOnPool } = STRATEGIES[name];
    const isWrapped = !meetsAll && !agreesOnPool;
    const gated = strategyOf({ ...GATED, strategy: name });
    const lent = strategyOf({ ...GROUP, strategy: name });
    expect(gated).toBe(STRATEGIES[name]);
    expect(lent === gated).toBe(!isWrapped);
  });
});
