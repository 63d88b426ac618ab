import { describe, expect, test } from 'vitest';
import type { WholeNode } from '../../whole-node.js';
import { onOneNode, PER_MINUTE, PER_SECOND, takeAll, withKeys } from './keys-cluster.js';

const ONE = { messages: 1 };

describe('keys', () => {
  test('a key is made by use at any node, tells nobody while it is quiet, and is forgotten', async () => {
    await withKeys(3, { 'key:{id}': PER_SECOND(10) }, async ({ nodes, time, appended }) => {
      await time.advance(10_000);
      const before = appended.reports;
      for (const node of nodes)
        for (let id = 0; id < 100; id++) expect(node.tryAcquire(`key:${id}`, ONE).granted).toBe(true);
      const counts = nodes[0]?.keys?.counts.get('key:{id}');
      expect(counts).toMatchObject({ live: 100, loud: 0, made: 100, forgotten: 0, refused: 0, granted: 100 });
      expect(nodes[0]?.groups.numbers.size).toBe(0);
      await time.advance(30_000);
      expect(counts).toMatchObject({ live: 0, made: 100, forgotten: 100 });
      expect(appended.reports).toBe(before);
    });
  });

  test('a key that one node uses up is published, is held to its quota by all, and falls silent again', async () => {
    await withKeys(3, { 'key:{id}': PER_SECOND(10) }, async ({ nodes, time, appended }) => {
      await time.advance(10_000);
      const before = appended.reports;
      let admitted = 0;
      for (let round = 0; round < 1000; round++) {
        for (const node of nodes) admitted += takeAll(node, 'key:hot', 1);
        await time.advance(20);
      }
      // 20 s of the quota, and at most the three depths that nodes may take at one instant.
      expect(admitted).toBeGreaterThan(195);
      expect(admitted).toBeLessThanOrEqual(200 + 30);
      expect(appended.reports).toBeGreaterThan(before);
      expect(nodes.map(({ keys }) => keys?.counts.get('key:{id}')?.loud)).toEqual([1, 1, 1]);
      expect(() => nodes[0]?.groupStatus('key:hot')).not.toThrow();
      await time.advance(120_000);
      expect(nodes.map(({ keys }) => keys?.counts.get('key:{id}'))).toMatchObject([
        { loud: 0, live: 0 },
        { loud: 0, live: 0 },
        { loud: 0, live: 0 },
      ]);
    });
  });

  test('what a bucket lacked when its node began, or its key fell silent, is charged to nobody', async () => {
    await withKeys(3, { 'key:{id}': PER_MINUTE(600) }, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      takeAll(a, 'key:hot', 30);
      let admitted = 0;
      for (let turn = 0; turn < 100; turn++) {
        admitted += takeAll(a, 'key:hot', 1) + takeAll(b, 'key:hot', 1);
        await time.advance(100);
      }
      // 10 s of the quota, of which a second may stay in the bucket.
      expect(admitted).toBeGreaterThan(85);
      await time.advance(180_000);
      expect(a.keys?.counts.get('key:{id}')).toMatchObject({ loud: 0 });
      takeAll(a, 'key:hot', 30);
      await time.advance(2000);
      expect(takeAll(b, 'key:hot', 30)).toBe(30);
    });
  });

  test('a key of which another node speaks is not spent without publishing it', async () => {
    await withKeys(3, { 'key:{id}': PER_MINUTE(60) }, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      await time.advance(120_000);
      takeAll(a, 'key:hot', 100);
      await time.advance(100);
      b.tryAcquire('key:hot', ONE);
      expect(b.keys?.counts.get('key:{id}')?.loud).toBe(1);
    });
  });

  test('the most specific template wins, an override wins over it, and other names are unknown', async () => {
    const keys = {
      'tenant:{t}/user:{u}': PER_MINUTE(5),
      'tenant:{t}/user:admin': PER_MINUTE(50),
      'key:{id}': { ...PER_MINUTE(5), overrides: { acme: PER_MINUTE(20) } },
    };
    await onOneNode(keys, async (node) => {
      expect(takeAll(node, 'tenant:a/user:b', 100)).toBe(5);
      expect(takeAll(node, 'tenant:a/user:admin', 100)).toBe(50);
      expect(takeAll(node, 'key:bob', 100)).toBe(5);
      expect(takeAll(node, 'key:acme', 100)).toBe(20);
      expect(takeAll(node, 'key:__proto__', 100)).toBe(5);
      for (const name of ['orders', 'key', 'kay:a', 'x'.repeat(1e6), '__proto__']) {
        expect(() => node.tryAcquire(name, ONE), name.slice(0, 20)).toThrow(/group/);
      }
    });
  });

  test('a node that slept is not ready for keys, and makes no groups of those that are asked for meanwhile', async () => {
    await withKeys(1, { 'key:{id}': PER_SECOND(100) }, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await time.advance(10_000);
      const later = performance.now() + 20_000;
      for (let id = 0; id < 50; id++) {
        expect(node.gate.tryAcquire(`key:${id}`, ONE, {}, later)).toMatchObject({
          granted: false,
          reason: 'not-ready',
        });
      }
      expect(node.groups.unlistedCount).toBe(1);
      await time.advance(100);
      expect(node.tryAcquire('key:1', ONE).granted).toBe(true);
    });
  });
});
