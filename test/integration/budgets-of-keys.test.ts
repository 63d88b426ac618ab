import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNode } from '../../src/doors/library/create-node.js';
import type { Decision } from '../../src/node/api/decision.js';
import type { QuotaNode } from '../../src/node/api/quota-node.js';
import { partsOf } from '../../src/node/loop/parts-of.js';
import type { BudgetLane } from '../../src/node/strict/budget-lanes.js';

const BUDGET = 500;
const CONFIG = {
  cluster: 'budgets-of-keys',
  topic: { kind: 'memory' },
  groups: {},
  keys: {
    'key:{id}': {
      budget: { messages: BUDGET, per: 'total' },
      overrides: { small: { budget: { messages: 2, per: 'total' } } },
    },
    'llm:{id}': {
      budget: { messages: BUDGET, per: 'month' },
      concurrency: 2,
      quota: { publish: { messagesPerSecond: 1000 } },
    },
  },
};

let nodes: QuotaNode[] = [];
const lines: string[] = [];
beforeAll(async () => {
  const telemetry = { log: (_: string, message: string) => void lines.push(message) };
  nodes = await Promise.all(['a', 'b', 'c'].map((nodeId) => createNode({ config: CONFIG, nodeId, telemetry })));
  for (const node of nodes) await spend(node, 'key:first', 1);
}, 60_000);
afterAll(() => Promise.all(nodes.map((node) => node.close())));

/** Asks until the nodes know that no earlier log counts: 5 s after the first start. */
async function spend(node: QuotaNode, key: string, messages: number): Promise<Decision> {
  for (let tries = 0; tries < 600; tries++) {
    const decision = await node.acquire(key, { messages }, { waitMs: Math.max(1000, node.usualWaitMs(key)) });
    if (decision.granted || decision.reason !== 'not-ready') return decision;
    await sleep(50);
  }
  throw new Error(`${key}: not ready after 30 s`);
}

test('a node logs once that budgets of keys cannot be spent yet, however many there are, and once that they can', async () => {
  // The first node learns, and the others with it: a second look may find it done.
  const told = (text: string) => lines.filter((line) => line.startsWith(text)).length;
  const again = () => told('budget can be spent again');
  await expect.poll(() => again() === told('budget cannot be spent: '), { timeout: 10_000 }).toBe(true);
  expect(again()).toBeGreaterThanOrEqual(1);
  expect(again()).toBeLessThanOrEqual(nodes.length);
});

test('each key has a budget of its own over all nodes, to the message, and its override another', async () => {
  let granted = 0;
  const client = async (node: QuotaNode) => {
    for (let refused = 0; refused < 3; ) {
      if ((await spend(node, 'key:alice', 1)).granted) granted++;
      else refused++;
    }
  };
  await Promise.all(nodes.flatMap((node) => [client(node), client(node), client(node)]));
  expect(granted).toBe(BUDGET);
  expect(await spend(nodes[1], 'key:alice', 1)).toMatchObject({ granted: false, level: 'budget' });
  const bob = await spend(nodes[1], 'key:bob', 100);
  expect(bob).toMatchObject({ granted: true, budget: { unit: 'messages', limit: BUDGET, resetMs: null } });
  expect((await spend(nodes[2], 'key:small', 2)).granted).toBe(true);
  expect(await spend(nodes[0], 'key:small', 1)).toMatchObject({ granted: false, level: 'budget' });
});

test('what a key has spent is known when its lane is opened again, at any node', async () => {
  expect((await spend(nodes[0], 'key:carol', 300)).granted).toBe(true);
  const closed = () => nodes.map((node) => partsOf(node).budgets.openKeys);
  await expect.poll(closed, { timeout: 60_000 }).toEqual([0, 0, 0]);
  expect((await spend(nodes[2], 'key:carol', 201)).granted).toBe(false);
  expect((await spend(nodes[2], 'key:carol', 200)).granted).toBe(true);
  expect(await spend(nodes[1], 'key:alice', 1)).toMatchObject({ granted: false, level: 'budget' });
}, 90_000);

test('a budget, slots and a rate stand beside each other: who gets no slot is charged nothing', async () => {
  const enter = () => nodes[0].enter('llm:acme', { messages: 1 }, { waitMs: 1000 });
  const first = [await enter(), await enter()];
  // A refusal tells why.
  expect(first.map((slot) => slot.granted || slot.because)).toEqual([true, true]);
  expect(await nodes[1].enter('llm:acme', { messages: 1 }, { waitMs: 200 })).toMatchObject({ reason: 'concurrency' });
  for (const slot of first) if (slot.granted) slot.release();
  using third = await enter();
  expect(third).toMatchObject({ granted: true, decision: { budget: { limit: BUDGET, remaining: BUDGET - 3 } } });
});

test('a key that has spent something is topped up, once for each id', async () => {
  expect((await spend(nodes[0], 'key:small', 1)).granted).toBe(false);
  const { gate, budgets } = partsOf(nodes[0]);
  const number = gate.groupIndex('key:small');
  const lane = budgets.known(number) as BudgetLane;
  expect(await budgets.credit(lane, 'gift', 1, 'test')).toBe(true);
  expect(await budgets.credit(lane, 'gift', 1, 'test')).toBe(false);
  expect((await spend(nodes[0], 'key:small', 1)).granted).toBe(true);
  expect((await spend(nodes[1], 'key:small', 1)).granted).toBe(false);
});

test('what a key with a budget cannot do is refused by name', async () => {
  const unable = expect.objectContaining({ code: 'BUDGET_UNABLE' });
  const one = { messages: 1 };
  expect(() => nodes[0].consume('key:bob', one)).toThrow(unable);
  expect(() => nodes[0].reserve('key:bob', one)).toThrow(unable);
  await expect(nodes[0].takeBatch('key:bob', one)).rejects.toThrow(unable);
});
