import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyedCluster } from '../../sim/keys/keyed-cluster.js';
import { clusterDepth } from '../../src/core/account/cluster-depth.js';
import { partOf, runs, someOf } from '../property/seed.js';

/** Messages per second of each key. */
const QUOTAS = [1, 10, 100] as const;

interface Grant {
  readonly atMs: number;
  readonly node: number;
  readonly messages: number;
}

/**
 * Returns the most that grants go beyond `atOnce` + `perSecond` × the time, in any span between two of them. Less what the quota allows since
 * the first, a span's grants are what was granted until its end, less the least that was granted before any grant up to there.
 */
function mostBeyond(grants: readonly Grant[], atOnce: number, perSecond: number): number {
  let [sum, least, most] = [0, Infinity, -Infinity];
  for (const { atMs, messages } of grants) {
    const allowed = (perSecond * (atMs - grants[0].atMs)) / 1000;
    least = Math.min(least, sum - allowed);
    sum += messages;
    most = Math.max(most, sum - allowed - least);
  }
  return most - atOnce;
}

describe('silent nodes', () => {
  test('k of N nodes spend at most k/N of a depth and of the quota unpublished, whatever is asked', () => {
    const asked = fc.record({
      pauseMs: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(2000)),
      node: fc.nat(7),
      key: fc.nat(3),
      messages: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 })),
      // A client that asks again until it is refused, at one node or at all.
      times: fc.oneof(fc.constant(1), fc.nat(40)),
    });
    const world = fc.record({
      nodes: fc.integer({ min: 1, max: 8 }),
      perSecond: fc.constantFrom(...QUOTAS),
      burst: fc.constantFrom(null, 30, 100),
      policy: fc.constantFrom('optimistic' as const, 'divided' as const),
      seed: fc.nat(1000),
      idleMs: fc.nat(20_000),
      acts: fc.array(asked, { minLength: 10, maxLength: 60 }),
    });
    let unpublished = 0;
    let aloud = 0;
    fc.assert(
      fc.property(world, ({ nodes, perSecond, burst, policy, seed, idleMs, acts }) => {
        const quota = { publish: { messagesPerSecond: perSecond } };
        const maxRequest = { messages: 1000 };
        const given = burst === null ? { policy } : { policy, messages: burst };
        const cluster = new KeyedCluster({ nodes, keys: { 'key:{id}': { quota, burst: given, maxRequest } }, seed });
        cluster.advance(idleMs);
        const silent = new Map<number, Grant[]>();
        const all = new Map<number, Grant[]>();
        for (const { pauseMs, node, key, messages, times } of acts) {
          cluster.advance(pauseMs);
          for (let time = 0; time <= times; time++) {
            const at = (node + (times % 2) * time) % nodes;
            const answer = cluster.nodes[at].ask(`key:${key}`, messages);
            if (answer === 'refused') continue;
            const grant = { atMs: cluster.nowMs, node: at, messages };
            if (answer === 'unpublished') unpublished++;
            else aloud++;
            for (const kept of answer === 'unpublished' ? [silent, all] : [all]) {
              const grants = kept.get(key) ?? [];
              grants.push(grant);
              kept.set(key, grants);
            }
          }
        }
        const depth = burst ?? clusterDepth(perSecond, 1);
        // Beside what is spent without publishing it, those who speak take of a full bucket at one instant what they may of that of
        // any group; and a request that is larger than what a node may take is granted by each of them once.
        const loudDepths = policy === 'divided' ? 1 : Math.min(nodes, 3);
        for (const grants of all.values()) {
          const largest = Math.max(...grants.map(({ messages }) => messages));
          const atOnce = (1 + loudDepths) * depth + nodes * largest;
          expect(mostBeyond(grants, atOnce, perSecond)).toBeLessThanOrEqual(1e-6);
        }
        for (const grants of silent.values()) {
          const who = new Set(grants.map(({ node }) => node));
          for (const node of who) {
            const own = grants.filter((grant) => grant.node === node);
            expect(mostBeyond(own, depth / nodes, perSecond / nodes)).toBeLessThanOrEqual(1e-6);
          }
          const part = who.size / nodes;
          expect(mostBeyond(grants, part * depth, part * perSecond)).toBeLessThanOrEqual(1e-6);
        }
      }),
      runs(45),
    );
    // Else the law would hold of nothing.
    expect(unpublished).toBeGreaterThan(runs(1000).numRuns);
    expect(aloud).toBeGreaterThan(runs(1000).numRuns);
  });
});

describe('a silent key that wakes at all nodes at once', () => {
  const told =
    '%i nodes: spends one depth unpublished, is loud everywhere within a second, and is then held to its quota';
  test.each(someOf([20, 30, 10]))(told, (nodes) => {
    const [perSecond, depth] = [100, 100];
    const template = { quota: { publish: { messagesPerSecond: perSecond } }, burst: { messages: depth } };
    const cluster = new KeyedCluster({ nodes, keys: { 'key:{id}': template }, seed: 7 });
    cluster.advance(30_000);
    const counts = { unpublished: 0, aloud: 0, refused: 0 };
    const grants: Grant[] = [];
    const began = cluster.nowMs;
    for (let step = 0; step < 1000; step++) {
      // Ten times the quota, at all nodes alike.
      cluster.nodes.forEach((node, at) => {
        if ((step + at) % (nodes / 10) !== 0) return;
        const answer = node.ask('key:hot', 1);
        counts[answer]++;
        if (answer !== 'refused') grants.push({ atMs: cluster.nowMs, node: at, messages: 1 });
      });
      cluster.advance(10);
      if (cluster.nowMs - began !== 1000) continue;
      expect(cluster.nodes.map(({ keys }) => keys.counts.get('key:{id}')!.loud)).toEqual(cluster.nodes.map(() => 1));
    }
    expect(counts.unpublished).toBeLessThanOrEqual(depth + perSecond);
    expect(mostBeyond(grants, 4 * depth + nodes, perSecond)).toBeLessThanOrEqual(0);
    const late = grants.filter(({ atMs }) => atMs - began >= 5000).length / (perSecond * 5);
    expect(late).toBeGreaterThan(0.95);
    expect(late).toBeLessThan(1.05);
  });
});

describe('a key that becomes loud at one node after the other', () => {
  test('is granted below its quota, though nobody has read yet what a node spent without publishing it', () => {
    const template = { quota: { publish: { messagesPerSecond: '60/h' } } };
    const delays = { appendMs: [5, 20], deliveryMs: [5, 20] } as const;
    const cluster = new KeyedCluster({ nodes: 3, keys: { 'key:{id}': template }, seed: 3, delays });
    const refused: string[] = [];
    // 54 of 60, so that some node has spent its 20 whenever another tells that it has.
    for (let key = 0; key < partOf(40); key++) {
      for (let asked = 1; asked <= 54; asked++) {
        cluster.advance(cluster.random.between(0, asked % 15 === 0 ? 3000 : 130));
        const node = cluster.nodes[Math.floor(cluster.random.between(0, 3))];
        if (node.ask(`key:${key}`, 1) === 'refused') refused.push(`key:${key} after ${asked - 1}`);
      }
    }
    expect(refused).toEqual([]);
  });
});
