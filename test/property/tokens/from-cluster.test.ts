import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ClusterBucket, correctedRate, setPointOf } from '../../../src/core/account/cluster-bucket.js';
import { TOGETHER_DEPTHS } from '../../../src/core/account/constants.js';
import { ExpectedUse } from '../../../src/core/account/expected-use.js';
import { fromCluster, isDeep } from '../../../src/core/account/from-cluster.js';
import { maxMin } from '../../../src/core/convergence/max-min.js';
import { roundOf, total } from '../../unit/core/convergence/round-of.js';
import { type Cluster, cluster } from '../rounds.js';
import { partOf, runs } from '../seed.js';

/** Numbers near the least that there is have no digits left to compare. */
const TINY = 1e-300;

const scene = fc.record({
  of: cluster({ nodes: 60, dimensions: 1 }),
  depthSeconds: fc.double({ min: 0.01, max: 10, noNaN: true }),
  full: fc.oneof(fc.constantFrom(1, 0.9, 0.3, 0), fc.double({ min: -4, max: 1, noNaN: true })),
  isDivided: fc.boolean(),
  /** Where most clusters are: what is wanted is about the target. Quotients of subnormal numbers have no digits. */
  load: fc.oneof(fc.constantFrom(null, 0), fc.double({ min: 1e-300, max: 2, noNaN: true })),
});

interface Taken {
  readonly bucket: ClusterBucket;
  readonly tokens: number;
  readonly used: number;
  readonly nodes: readonly ExpectedUse[];
  readonly amounts: readonly number[];
}

function loaded(of: Cluster, load: number | null): Cluster {
  const [target = 1] = of.target;
  const [demand = []] = of.demand;
  const wanted = total(demand);
  if (load === null || wanted === 0) return of;
  return { ...of, demand: [demand.map((each) => (each / wanted) * load * target)] };
}

function taken({
  of,
  depthSeconds,
  full,
  isDivided,
  load,
}: typeof scene extends fc.Arbitrary<infer S> ? S : never): Taken {
  const round = roundOf(loaded(of, load));
  maxMin.converge(round);
  const perSecond = round.target[0];
  const bucket = { perSecond, depth: perSecond * depthSeconds };
  const tokens = full * bucket.depth;
  const rate = correctedRate(bucket, tokens);
  const nodes = Array.from({ length: round.count }, (_, own) => {
    const expected = new ExpectedUse();
    expected.view(round, own, 0);
    return expected;
  });
  const used = Math.min(nodes[0].total, rate);
  const amounts = nodes.map((expected) => {
    const use = { expected, used, ownUse: expected.ownAt(rate), piece: 1, isDivided };
    return fromCluster(bucket, tokens, nodes.length, use);
  });
  return { bucket, tokens, used, nodes, amounts };
}

test('all together take three depths of a full bucket that is not wanted, one where it is divided', () => {
  let cases = 0;
  fc.assert(
    fc.property(scene, (given) => {
      const { bucket, tokens, used, amounts } = taken(given);
      if (tokens < 0.9 * bucket.depth || used >= bucket.perSecond / 2) return;
      cases++;
      const most = (given.isDivided ? 1 : Math.min(TOGETHER_DEPTHS, amounts.length)) * tokens;
      expect(total(amounts)).toBeLessThanOrEqual(most * (1 + 1e-9));
    }),
    runs(1500),
  );
  expect(cases).toBeGreaterThan(partOf(200));
});

test('otherwise what is above the set point once by those that are met, once by the throttled and once in equal parts of a deep bucket, and what is below at most once for each of the ten that may', () => {
  fc.assert(
    fc.property(scene, (given) => {
      const { bucket, tokens, used, nodes, amounts } = taken(given);
      if (tokens >= 0.9 * bucket.depth && used < bucket.perSecond / 2) return;
      const above = Math.max(0, tokens - setPointOf(bucket));
      const below = Math.max(0, Math.min(tokens, setPointOf(bucket)));
      const quiet = nodes.filter(({ isThrottled }) => !isThrottled).length;
      const equal = isDeep(bucket, tokens) ? 1 : 0;
      const times = (nodes.some(({ isThrottled }) => isThrottled) ? 2 : 1) + equal;
      expect(total(amounts)).toBeLessThanOrEqual((times * above + quiet * below) * (1 + 1e-9) + TINY);
      if (nodes[0]?.total === 0) expect(total(amounts)).toBeLessThanOrEqual(Math.max(0, tokens) * (1 + 1e-9) + TINY);
    }),
    runs(1500),
  );
});

test('nobody takes a negative amount, or more than there is; of a debt nobody takes anything', () => {
  fc.assert(
    fc.property(scene, (given) => {
      const { tokens, amounts } = taken(given);
      for (const amount of amounts) {
        expect(amount).toBeGreaterThanOrEqual(0);
        expect(amount).toBeLessThanOrEqual(Math.max(0, tokens) * (1 + 1e-9) + TINY);
      }
    }),
    runs(1000),
  );
});

test('a throttled node takes nothing below the set point', () => {
  let cases = 0;
  fc.assert(
    fc.property(scene, (given) => {
      const { bucket, tokens, nodes, amounts } = taken(given);
      if (tokens > setPointOf(bucket)) return;
      nodes.forEach(({ isThrottled }, at) => {
        if (!isThrottled) return;
        cases++;
        expect(amounts[at]).toBe(0);
      });
    }),
    runs(1500),
  );
  expect(cases).toBeGreaterThan(partOf(200));
});
