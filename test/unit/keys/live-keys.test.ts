import { describe, expect, test } from 'vitest';
import type { WholeNode } from '../../whole-node.js';
import { PER_MINUTE, PER_SECOND, withKeys } from './keys-cluster.js';

const ONE = { messages: 1 };

function takeAll(node: WholeNode, key: string, tries: number): number {
  let taken = 0;
  for (let asked = 0; asked < tries; asked++) if (node.tryAcquire(key, ONE).granted) taken++;
  return taken;
}

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

  test('a thousand keys at a tenth of their quota write nothing', async () => {
    await withKeys(3, { 'key:{id}': PER_MINUTE(60) }, async ({ nodes, time, appended }) => {
      await time.advance(60_000);
      const before = appended.reports;
      for (let second = 0; second < 30; second++) {
        for (let id = second % 10; id < 1000; id += 10) {
          expect(nodes[id % 3]?.tryAcquire(`key:${id}`, ONE).granted).toBe(true);
        }
        await time.advance(1000);
      }
      expect(appended.reports).toBe(before);
      expect(nodes.map(({ keys }) => keys?.counts.get('key:{id}')?.loud)).toEqual([0, 0, 0]);
    });
  });

  test('a key that one node uses up speaks, is held to its quota by all, and falls silent again', async () => {
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

  test('what a node spent unheard is charged to the cluster when the key speaks', async () => {
    await withKeys(3, { 'key:{id}': PER_SECOND(10) }, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      await time.advance(10_000);
      expect(takeAll(a, 'key:hot', 30)).toBe(10);
      await time.advance(100);
      // The other node has read that the bucket is empty; a second fills it by ten.
      expect(takeAll(b, 'key:hot', 30)).toBeLessThanOrEqual(2);
    });
  });

  test('a key that three nodes use in turn has its burst once, and its quota from then on', async () => {
    await withKeys(3, { 'key:{id}': PER_MINUTE(600) }, async ({ nodes, time }) => {
      await time.advance(120_000);
      let turn = 0;
      const askFor = async (requests: number, everyMs: number) => {
        let admitted = 0;
        for (let asked = 0; asked < requests; asked++) {
          admitted += takeAll(nodes[turn++ % 3], 'key:hot', 1);
          await time.advance(everyMs);
        }
        return admitted;
      };
      expect(await askFor(600, 2)).toBe(600);
      expect(await askFor(500, 20)).toBeLessThanOrEqual(110);
      const tenSeconds = await askFor(500, 20);
      expect(tenSeconds).toBeGreaterThanOrEqual(98);
      expect(tenSeconds).toBeLessThanOrEqual(102);
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

  test('a key of which another node speaks is not whispered of', async () => {
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
    await withKeys(1, keys, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await time.advance(120_000);
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

  test('every call takes the name of a key; amounts are checked, and mistakes make no groups', async () => {
    await withKeys(1, { 'key:{id}': PER_SECOND(100) }, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await time.advance(10_000);
      for (const bad of [{ messages: 0.5 }, { messages: -1 }, {}, { messages: 1e9 }, { messages: 1n as never }]) {
        expect(() => node.tryAcquire('key:a', bad)).toThrow();
      }
      expect(() => node.groupStatus('key:a')).toThrow(/silent/);
      expect(node.keys?.counts.get('key:{id}')?.loud).toBe(0);
      const reservation = node.reserve('key:b', { messages: 3 });
      expect(reservation.granted).toBe(true);
      expect((await node.acquire('key:c', ONE, { waitMs: 0 })).granted).toBe(true);
      expect(node.tryAcquire('key:d', { messages: 500 }, { atMost: true })).toMatchObject({ granted: true });
      expect(node.containsTokens('key:e', ONE)).toBe(true);
      node.consume('key:f', ONE);
      expect(() => node.groupStatus('key:f')).toThrow(/silent/);
      node.reportCost('key:f', { units: 1 });
      expect(node.groupStatus('key:f').group).toBe('key:f');
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
      expect(node.groups.keyCount).toBe(1);
      await time.advance(100);
      expect(node.tryAcquire('key:1', ONE).granted).toBe(true);
    });
  });

  test('a flood of names is bounded: idle keys make room, a key with something to remember does not', async () => {
    const lines: string[] = [];
    const telemetry = { log: (_: string, text: string) => void lines.push(text) };
    await withKeys(
      1,
      { maxLive: 50, 'key:{id}': PER_MINUTE(60) },
      async ({ nodes, time }) => {
        const [node] = nodes as [WholeNode];
        await time.advance(120_000);
        for (let id = 0; id < 50; id++) node.tryAcquire(`key:${id}`, ONE);
        expect(() => node.tryAcquire('key:more', ONE)).toThrow(/no room for key key:more: keys.maxLive = 50/);
        expect(() => node.tryAcquire('key:again', ONE)).toThrow(/no room/);
        // The bucket of each is full again a second after its use.
        await time.advance(1500);
        for (let id = 0; id < 50; id++) expect(node.tryAcquire(`key:new-${id}`, ONE).granted).toBe(true);
        expect(node.keys?.counts.get('key:{id}')).toMatchObject({ live: 50, forgotten: 50, refused: 2 });
        expect(lines.filter((line) => line.includes('no room for more keys'))).toHaveLength(1);
      },
      telemetry,
    );
  });
});
