import { afterEach, expect, test } from 'vitest';
import { createNode } from '../../../src/runtime/create-node.js';
import type { QuotaNode } from '../../../src/runtime/quota-node.js';
import { BY_TEST } from '../../integration/changed-by.js';

const KEY = 'k'.repeat(32);
const nodes: QuotaNode[] = [];
afterEach(() => Promise.all(nodes.splice(0).map((node) => node.close())));

async function start(nodeId: string, hmac: object | null): Promise<QuotaNode> {
  const config = { cluster: 'signed-nodes', node: nodeId, topic: { kind: 'memory', hmac }, groups: { orders: {} } };
  const node = await createNode({ config, env: {} });
  nodes.push(node);
  return node;
}

test('a node without the key is nobody to those that have it, and its groups are none', async () => {
  const [a, b] = [await start('a', { key: KEY }), await start('b', { key: KEY })];
  const foreign = await start('foreign', null);
  await a.registry?.propose('ours', 0, { quota: { publish: { messagesPerSecond: 5 } } }, BY_TEST);
  await foreign.registry?.propose('theirs', 0, { quota: { publish: { messagesPerSecond: 5 } } }, BY_TEST);
  await until(() => membersOf(foreign).length === 3 && b.groups.has('ours') && isNoticed(a) && isNoticed(b));
  for (const node of [a, b]) {
    expect(membersOf(node)).toEqual(['a', 'b']);
    expect(node.groups.has('theirs')).toBe(false);
    const [reports, registry] = node.status().signatures;
    expect(reports).toMatchObject({ log: 'reports', mode: 'require', unverified: { 'wrong-signature': 0 } });
    expect(registry).toMatchObject({ log: 'registry', keyId: reports?.keyId });
    expect(reports?.unverified.unsigned).toBeGreaterThan(0);
    expect(reports?.verified.key).toBeGreaterThan(0);
    expect(node.status().degraded.join()).toMatch(
      /topic: \d+ records without a signature of this cluster were ignored/,
    );
  }
  // Those who have no key skip signatures.
  expect(foreign.groups.has('ours')).toBe(true);
  expect(foreign.status().signatures).toEqual([]);
});

function isNoticed(node: QuotaNode): boolean {
  return node.status().signatures.every(({ unverified }) => (unverified.unsigned ?? 0) > 0);
}

function membersOf(node: QuotaNode): string[] {
  return node
    .status()
    .members.filter(({ state }) => state === 'alive')
    .map(({ nodeId }) => nodeId);
}

async function until(holds: () => boolean): Promise<void> {
  const givenUpAt = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error('never');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
