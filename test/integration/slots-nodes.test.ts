import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Access } from '../../src/base/access/access.js';
import { createAcquireOutcomes } from '../../src/doors/http/acquire/acquire-answers.js';
import { createNode } from '../../src/doors/library/create-node.js';
import { createMetrics } from '../../src/doors/telemetry/metrics.js';
import type { SlotsStatus } from '../../src/node/api/node-status.js';
import type { QuotaNode } from '../../src/node/api/quota-node.js';
import type { Slot } from '../../src/node/api/slot.js';
import { partsOf } from '../../src/node/loop/parts-of.js';

const LIMIT = 6;
const GROUPS = {
  reports: { concurrency: LIMIT },
  metered: { concurrency: 2, quota: { publish: { messagesPerSecond: '1/hour' } }, burst: 1 },
  open: {},
};

function nodeOf(nodeId: string, cluster = 'slots-nodes', groups: object = GROUPS): Promise<QuotaNode> {
  const config = { cluster, topic: { kind: 'memory' }, groups, metrics: { perGroup: 'all' } };
  return createNode({ config, nodeId });
}

const slotsOf = (node: QuotaNode, group = 'reports') => node.groupStatus(group).slots as SlotsStatus;

async function untilKnown(nodes: readonly QuotaNode[], group = 'reports'): Promise<void> {
  for (let waited = 0; waited < 600; waited++) {
    if (nodes.every((node) => slotsOf(node, group).state === 'kept')) return;
    await sleep(50);
  }
  throw new Error('no slots after 30 s');
}

/** Enters once the node is ready: beside load it may wait for its own record. */
async function entered(node: QuotaNode, group = 'reports', waitMs = 20_000): Promise<Slot> {
  let slot = await node.enter(group, undefined, { waitMs });
  for (let left = 100; !slot.granted && slot.reason === 'not-ready' && left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    slot = await node.enter(group, undefined, { waitMs });
  }
  if (!slot.granted) throw new Error(`${group}: ${slot.because}`);
  return slot;
}

async function metricsOf(quotaNode: QuotaNode): Promise<string> {
  const node = partsOf(quotaNode);
  const access = new Access(node.config.auth, node.clock, { log: () => {} });
  const sources = { node, access, outcomes: createAcquireOutcomes(), incidents: { unhandledRejections: 0 } };
  return (await createMetrics(sources).scrape(undefined)).text;
}

describe('three nodes with a group of six slots', () => {
  let nodes: QuotaNode[] = [];
  beforeAll(async () => {
    nodes = await Promise.all(['a', 'b', 'c'].map((id) => nodeOf(id)));
    await untilKnown(nodes);
    await untilKnown(nodes, 'metered');
  }, 60_000);
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  test('all of them are at an idle node, and a seventh request waits until one ends elsewhere', async () => {
    const slots = await Promise.all(Array.from({ length: LIMIT }, () => entered(nodes[0])));
    await expect.poll(() => slotsOf(nodes[1]).free, { timeout: 20_000 }).toBe(0);
    const full = nodes[1].tryEnter('reports');
    expect(full).toMatchObject({ granted: false, reason: 'concurrency', because: 'all 6 slots are in use' });
    expect(full.slots).toEqual({ limit: LIMIT, inUse: 0, free: 0 });
    const waiting = entered(nodes[1]);
    await expect.poll(() => slotsOf(nodes[1]).waiting, { timeout: 20_000 }).toBe(1);
    expect(slots[0].release()).toBe('released');
    expect(slots[0].release()).toBe('released-before');
    const seventh = await waiting;
    expect(seventh.state).toBe('held');
    const inUse = () => nodes.map((node) => slotsOf(node).inUse);
    expect(inUse()).toEqual([LIMIT - 1, 1, 0]);
    expect(slotsOf(nodes[1]).holders).toContainEqual({ nodeId: 'a', hold: LIMIT - 1 });
    for (const slot of [...slots, seventh]) slot.release();
    expect(seventh.state).toBe('released');
    expect(inUse()).toEqual([0, 0, 0]);
  });

  test('no more run at once than there are slots, wherever they enter, and most of the slots are used', async () => {
    let [running, most, served] = [0, 0, 0];
    const untilMs = performance.now() + 2000;
    const client = async (node: QuotaNode) => {
      while (performance.now() < untilMs) {
        using slot = await node.enter('reports', undefined, { waitMs: 1000 });
        if (!slot.granted) continue;
        most = Math.max(most, ++running);
        await sleep(5 + Math.random() * 10);
        running--;
        served++;
      }
    };
    await Promise.all(nodes.flatMap((node) => Array.from({ length: 8 }, () => client(node))));
    expect(most).toBe(LIMIT);
    expect(served).toBeGreaterThan(100);
  });

  test('a refusal of the quota keeps no slot, and a refusal of the slots charges nothing', async () => {
    const [node] = nodes;
    const first = await entered(node, 'metered');
    expect(first.decision).toMatchObject({ granted: true });
    const refused = await node.enter('metered', undefined, { waitMs: 100 });
    expect(refused).toMatchObject({ granted: false, reason: 'quota', decision: { reason: 'quota' } });
    expect(slotsOf(node, 'metered').inUse).toBe(1);
    first.release();
    await expect.poll(() => slotsOf(node, 'metered').free, { timeout: 20_000 }).toBe(2);
  });

  test('who asks for tokens alone is refused by name', async () => {
    const [node] = nodes;
    const needed = expect.objectContaining({ code: 'SLOT_NEEDED' });
    const one = { messages: 1 };
    expect(() => node.tryAcquire('reports', one)).toThrow(needed);
    expect(() => node.consume('reports', one)).toThrow(needed);
    expect(() => node.reserve('reports', one)).toThrow(needed);
    expect(() => node.containsTokens('reports', one)).toThrow(needed);
    expect(() => node.throttleDurationMs('reports')).toThrow(needed);
    await expect(node.acquire('reports', one, { waitMs: 0 })).rejects.toThrow(needed);
    await expect(node.waitFor('reports')).rejects.toThrow(needed);
    await expect(node.takeBatch('reports', one)).rejects.toThrow(needed);
  });

  test('a group without concurrency is entered, too, and holds nothing', async () => {
    const slot = nodes[0].tryEnter('open');
    expect(slot).toMatchObject({ granted: true, slots: null, state: 'held' });
    expect((slot as Slot).release()).toBe('released');
    expect(() => nodes[0].tryEnter('reprots')).toThrow(expect.objectContaining({ code: 'GROUP_UNKNOWN' }));
    await expect(nodes[0].enter('reports', { messages: 0 })).rejects.toThrow(
      expect.objectContaining({ code: 'AMOUNT_INVALID' }),
    );
    expect(slotsOf(nodes[0]).inUse).toBe(0);
  });

  test('who gives up waiting takes no slot', async () => {
    const slots = await Promise.all(Array.from({ length: LIMIT }, () => entered(nodes[0])));
    const reason = new Error('gone');
    const gone = new AbortController();
    const waiting = nodes[0].enter('reports', undefined, { waitMs: 60_000, signal: gone.signal });
    gone.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    for (const slot of slots) slot.release();
    expect(slotsOf(nodes[0])).toMatchObject({ inUse: 0, waiting: 0 });
  });

  test('status, explanation and metrics say the same', async () => {
    const slot = await entered(nodes[2]);
    expect(nodes[2].explain('reports').slots).toMatchObject({ inUse: 1, limit: LIMIT, state: 'kept' });
    // Slots come and go between two looks.
    const missing = async () => {
      const { inUse, free } = slotsOf(nodes[2]);
      const text = await metricsOf(nodes[2]);
      expect(text).not.toMatch(/slots_\w+\{group="open"/);
      const told = { kept: 1, limit: LIMIT, in_use: inUse, free, lost_in_use: 0 };
      const lines = Object.entries(told).map(([name, value]) => `slots_${name}{group="reports"} ${value}\n`);
      return lines.filter((line) => !text.includes(`quotamesh_group_${line}`));
    };
    await expect.poll(missing, { timeout: 10_000 }).toEqual([]);
    slot.release();
  });

  test('a limit changes in the order of the log: raised at once, lowered when requests have ended', async () => {
    const slots = await Promise.all(Array.from({ length: LIMIT }, () => entered(nodes[0])));
    await nodes[1].groups.patch('reports', { concurrency: LIMIT + 1 });
    const more = await entered(nodes[1]);
    await nodes[1].groups.patch('reports', { concurrency: 2 });
    await expect.poll(() => slotsOf(nodes[2]).limit, { timeout: 20_000 }).toBe(2);
    expect(slotsOf(nodes[2])).toMatchObject({ isInForce: false, free: 0 });
    expect(slotsOf(nodes[2]).waitsFor).toContain('a');
    for (const slot of [...slots, more]) slot.release();
    await expect.poll(() => slotsOf(nodes[2]).isInForce, { timeout: 20_000 }).toBe(true);
    const two = await Promise.all([entered(nodes[0]), entered(nodes[2])]);
    expect((await nodes[1].enter('reports', undefined, { waitMs: 300 })).granted).toBe(false);
    for (const slot of two) slot.release();
    await nodes[1].groups.delete('reports');
    await expect.poll(() => nodes.map((node) => slotsOf(node).limit), { timeout: 20_000 }).toEqual([6, 6, 6]);
  });

  test('concurrency that is taken away lets tokens alone be asked for', async () => {
    await nodes[0].groups.patch('reports', { concurrency: null });
    await expect.poll(() => nodes[1].groupStatus('reports').slots, { timeout: 20_000 }).toBe(null);
    expect(nodes[1].tryAcquire('reports', { messages: 1 }).granted).toBe(true);
    await nodes[0].groups.delete('reports');
  });
});

test('requests that outlast the life of their node are told as lost, and release nothing of others', async () => {
  const node = await nodeOf('a', 'slots-lost');
  try {
    await untilKnown([node]);
    const slot = await entered(node);
    const { bucket } = partsOf(node).slots.get(partsOf(node).groups.numbers.get('reports')!)!;
    bucket.beginEpoch();
    await untilKnown([node]);
    await expect.poll(() => slot.state, { timeout: 20_000 }).toBe('lost');
    expect(slotsOf(node)).toMatchObject({ inUse: 0, lost: 1 });
    const six = await Promise.all(Array.from({ length: LIMIT }, () => entered(node)));
    expect(slot.release()).toBe('lost');
    expect(slotsOf(node)).toMatchObject({ inUse: LIMIT, lost: 0 });
    expect(await metricsOf(node)).toContain('quotamesh_group_slots_lost_total{group="reports"} 1\n');
    for (const each of six) each.release();
  } finally {
    await node.close();
  }
}, 60_000);
