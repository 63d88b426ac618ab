import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNode } from '../../src/doors/library/create-node.js';
import type { QuotaNode } from '../../src/node/api/quota-node.js';
import type { Slot } from '../../src/node/api/slot.js';
import { partsOf } from '../../src/node/loop/parts-of.js';

const LIMIT = 4;
const KEYS = {
  'key:{id}': {
    concurrency: LIMIT,
    quota: { publish: { messagesPerSecond: 10_000 } },
    overrides: { acme: { concurrency: 2 } },
  },
  'open:{id}': { quota: { publish: { messagesPerSecond: 10_000 } } },
};

let nodes: QuotaNode[] = [];

/** Enters once the nodes know that no earlier log counts: 5 s after the first start. */
async function entered(node: QuotaNode, key: string, waitMs = 20_000): Promise<Slot> {
  let slot = await node.enter(key, undefined, { waitMs });
  for (let left = 300; !slot.granted && slot.reason === 'not-ready' && left > 0; left--) {
    await sleep(50);
    slot = await node.enter(key, undefined, { waitMs });
  }
  if (!slot.granted) throw new Error(`${key}: ${slot.because}`);
  return slot;
}

beforeAll(async () => {
  const config = { cluster: 'slots-of-keys', topic: { kind: 'memory' }, groups: {}, keys: KEYS };
  nodes = await Promise.all(['a', 'b', 'c'].map((nodeId) => createNode({ config, nodeId })));
  for (const node of nodes) (await entered(node, 'key:first')).release();
}, 60_000);
afterAll(() => Promise.all(nodes.map((node) => node.close())));

test('each key has slots of its own over all nodes, and its override has others', async () => {
  const slots = await Promise.all([0, 1, 2, 0].map((at) => entered(nodes[at], 'key:alice')));
  const full = await nodes[2].enter('key:alice', undefined, { waitMs: 200 });
  expect(full).toMatchObject({ granted: false, reason: 'concurrency', slots: { limit: LIMIT } });
  const others = await Promise.all([0, 1].map((at) => entered(nodes[at], 'key:acme')));
  expect(await nodes[2].enter('key:acme', undefined, { waitMs: 200 })).toMatchObject({ slots: { limit: 2 } });
  const waiting = entered(nodes[2], 'key:alice');
  slots[0].release();
  for (const slot of [...slots.slice(1), ...others, await waiting]) expect(slot.release()).toBe('released');
});

test('a key that nobody uses is entered within the usual wait of a round trip', async () => {
  for (let at = 0; at < 20; at++) {
    const waitMs = nodes[0].usualWaitMs(`key:new-${at}`);
    expect(waitMs).toBeGreaterThan(0);
    (await entered(nodes[at % 3], `key:new-${at}`, 10 * waitMs)).release();
  }
});

test('who asks a key with slots for tokens alone is refused by name; other keys stay as they are', async () => {
  const needed = expect.objectContaining({ code: 'SLOT_NEEDED' });
  const one = { messages: 1 };
  expect(() => nodes[0].tryAcquire('key:bob', one)).toThrow(needed);
  expect(() => nodes[0].consume('key:bob', one)).toThrow(needed);
  expect(() => nodes[0].reserve('key:bob', one)).toThrow(needed);
  expect(() => nodes[0].containsTokens('key:bob', one)).toThrow(needed);
  await expect(nodes[0].acquire('key:bob', one, { waitMs: 0 })).rejects.toThrow(needed);
  await expect(nodes[0].takeBatch('key:bob', one)).rejects.toThrow(needed);
  expect(nodes[0].tryAcquire('open:bob', one).granted).toBe(true);
  expect(nodes[0].tryEnter('open:bob')).toMatchObject({ granted: true, slots: null });
});

test('no more of a key run at once than it has slots, wherever they enter, while keys come and go', async () => {
  const running = new Map<string, number>();
  let [most, served] = [0, 0];
  const untilMs = performance.now() + 2000;
  const client = async (node: QuotaNode, at: number) => {
    for (let turn = 0; performance.now() < untilMs; turn++) {
      const key = `key:busy-${(at + turn) % 5}`;
      using slot = await node.enter(key, undefined, { waitMs: 1000 });
      if (!slot.granted) continue;
      const now = (running.get(key) ?? 0) + 1;
      running.set(key, now);
      most = Math.max(most, now);
      await sleep(5 + Math.random() * 10);
      running.set(key, (running.get(key) as number) - 1);
      served++;
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: 8 }, (_, at) => client(node, at))));
  expect(most).toBe(LIMIT);
  expect(served).toBeGreaterThan(100);
});

test('who looks at a key opens nothing, and strangers fill no log', async () => {
  const { slots, groups } = partsOf(nodes[0]);
  const before = slots.openKeys;
  expect(nodes[0].keys.show('key:nobody')).toMatchObject({ key: 'key:nobody' });
  expect(slots.openKeys).toBe(before);
  expect(slots.all.size).toBeGreaterThanOrEqual(before);
  expect(groups.numbers.size).toBe(0);
  expect(nodes[0].status().degraded).toEqual([]);
});
