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

const idle = (nodes: number) => Array<number>(nodes).fill(0);

describe('while nobody wants anything', () => {
  test.each([
    { nodes: 1, tokens: 100, each: 100, why: 'alone: all' },
    { nodes: 3, tokens: 100, each: 100, why: 'three: all of it each, which makes three depths' },
    { nodes: 10, tokens: 100, each: 30, why: 'ten: three depths together' },
    { nodes: 10, tokens: 90, each: 27, why: 'nine tenths are nearly full' },
    { nodes: 10, tokens: 89, each: 8.9, why: 'below that a tenth of what is there' },
    { nodes: 10, tokens: -50, each: 0, why: 'nothing of a debt' },
  ])('$nodes nodes, $tokens tokens: $each each; $why', ({ nodes, tokens, each }) => {
    expect(taken(idle(nodes), 0, tokens)).toBeCloseTo(each, 9);
  });

  test.each([
    { nodes: 3, each: 100 / 3 },
    { nodes: 10, each: 10 },
  ])('divided among $nodes in advance: $each each', ({ nodes, each }) => {
    expect(taken(idle(nodes), 0, 100, true)).toBeCloseTo(each, 9);
  });
});

describe('one wants twice the target, three want 20 each', () => {
  const busy = [2000, 20, 20, 20];
  const QUIET_PART = 0.5 / 4 + (0.5 * 20) / 60;

  test.each([
    // A quiet node's part is an eighth, and half of a third: 0.5/4 + 0.5 · 20/60.
    { tokens: 30, throttled: 0, quiet: 30 * QUIET_PART, why: 'at the set point a part for those that want little' },
    {
      tokens: 10,
      throttled: 0,
      quiet: 1 + 3 * Math.sqrt(0.3 * 20),
      why: 'below it a piece and three deviations of 300 ms',
    },
    { tokens: 5, throttled: 0, quiet: 5, why: 'or what is there' },
    { tokens: -20, throttled: 0, quiet: 0, why: 'a debt is for nobody' },
    // 70 above the set point: all of it for the only one that is throttled; 14 in equal parts, 56 by use (20 in 1,070).
    {
      tokens: 100,
      throttled: 70,
      quiet: 100 * QUIET_PART + 3.5 + (56 * 20) / 1070,
      why: 'above it, by use',
    },
  ])('$tokens tokens: $throttled and $quiet; $why', ({ tokens, throttled, quiet }) => {
    expect(taken(busy, 0, tokens)).toBeCloseTo(throttled, 9);
    expect(taken(busy, 1, tokens)).toBeCloseTo(quiet, 9);
  });
});

test('forty quiet nodes beside a busy one: each a piece and three deviations of 300 ms, not all of it', () => {
  const nodes = [2000, ...Array<number>(40).fill(5)];
  expect(taken(nodes, 1, 30)).toBeCloseTo(1 + 3 * Math.sqrt(0.3 * 5), 9);
  expect(taken(nodes, 1, 2)).toBe(2);
});

test('a bucket of five seconds that is nearly empty gives nothing at once to the throttled, but a rate', () => {
  const deep = { perSecond: 1000, depth: 5000 };
  expect(correctedRate(deep, 400)).toBe(400);
  expect(taken([2000, 20], 0, 400, false, deep)).toBe(0);
  expect(taken([2000, 20], 1, 400, false, deep)).toBe(0.75 * 400);
});

test('one of 1,000 nodes that is expected to take 20/s has a piece of a full bucket of 52, the others a twenty-seventh', () => {
  const nodes = [20, ...Array<number>(999).fill(0)];
  const bucket = { perSecond: 300, depth: 52 };
  const amounts = nodes.map((_, own) => taken(nodes, own, 52, false, bucket));
  expect(amounts[0]).toBe(1);
  expect(amounts[1]).toBeCloseTo((2.2 * 52) / 1000, 9);
});
