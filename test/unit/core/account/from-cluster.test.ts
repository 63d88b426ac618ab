import { describe, expect, test } from 'vitest';
import { correctedRate } from '../../../../src/core/account/cluster-bucket.js';
import { ExpectedUse } from '../../../../src/core/account/expected-use.js';
import { fromCluster } from '../../../../src/core/account/from-cluster.js';
import { maxMin } from '../../../../src/core/convergence/max-min.js';
import { roundOf } from '../convergence/round-of.js';

const BUCKET = { perSecond: 1000, depth: 100 };

/** What the node of an index may take of so many tokens. */
function taken(demand: readonly number[], own: number, tokens: number, isDivided = false, bucket = BUCKET): number {
  const round = roundOf({ target: [bucket.perSecond], demand: [demand] });
  maxMin.converge(round);
  const expected = new ExpectedUse();
  expected.view(round, own, 0);
  const rate = correctedRate(bucket, tokens);
  const used = Math.min(expected.total, rate);
  return fromCluster(bucket, tokens, demand.length, {
    expected,
    used,
    ownUse: expected.ownAt(rate),
    piece: 1,
    isDivided,
  });
}

describe('one wants twice the target, three want 20 each', () => {
  const busy = [2000, 20, 20, 20];
  const QUIET_PART = 0.5 / 4 + (0.5 * 20) / 60;

  test.each([
    // A quiet node's part is an eighth, and half of a third: 0.5/4 + 0.5 · 20/60.
    { tokens: 35, throttled: 0, quiet: 35 * QUIET_PART, why: 'at the set point a part for those that want little' },
    {
      tokens: 10,
      throttled: 0,
      quiet: 1 + 3 * Math.sqrt(0.3 * 20),
      why: 'below it a piece and three deviations of 300 ms',
    },
    { tokens: 5, throttled: 0, quiet: 5, why: 'or what is there' },
    { tokens: -20, throttled: 0, quiet: 0, why: 'a debt is for nobody' },
    // 65 above the set point: all of it for the only one that is throttled; 13 in equal parts, 52 by use (20 in 1,065).
    {
      tokens: 100,
      throttled: 65,
      quiet: 100 * QUIET_PART + 3.25 + (52 * 20) / 1065,
      why: 'above it, by use',
    },
  ])('$tokens tokens: $throttled and $quiet; $why', ({ tokens, throttled, quiet }) => {
    expect(taken(busy, 0, tokens)).toBeCloseTo(throttled, 9);
    expect(taken(busy, 1, tokens)).toBeCloseTo(quiet, 9);
  });
});
