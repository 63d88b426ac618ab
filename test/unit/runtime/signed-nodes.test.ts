import { afterEach, expect, test } from 'vitest';
import { BY_TEST } from '../../integration/changed-by.js';
import { createWholeNode, type WholeNode } from '../../whole-node.js';

const KEY = 'k'.repeat(32);
const nodes: WholeNode[] = [];
afterEach(() => Promise.all(nodes.splice(0).map((node) => node.close())));

async function start(nodeId: string, hmac: object | null): Promise<WholeNode> {
  const config = { cluster: 'signed-nodes', node: nodeId, topic: { kind: 'memory', hmac }, groups: { orders: {} } };
  const node = await createWholeNode({ config, env: {} });
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

const WRONG = 'w'.repeat(32);
/** Times of a tenth, so that nobody waits for seconds. */
const QUICK = { heartbeatMs: 100, stalenessMs: 500 };
/** Four times the longest of them. */
const LONG_MS = 2000;
const QUOTA = 300;
const QUOTED = {
  orders: { quota: { publish: { messagesPerSecond: QUOTA } }, isolation: { policy: 'closed', holdMs: 500 } },
};
const ORDERS = 'orders';

/** Does not wait until it is ready. */
async function startQuick(cluster: string, nodeId: string, hmac: object): Promise<WholeNode> {
  const topic = { kind: 'memory', hmac };
  const config = { cluster, node: nodeId, topic, timing: QUICK, groups: QUOTED };
  const node = await createWholeNode({ config, env: {}, readyTimeoutMs: 0 });
  nodes.push(node);
  return node;
}

/** What a node admits in as many milliseconds, asked without pause; 0 while it is not ready. */
async function admittedBy(node: WholeNode, ms: number): Promise<number> {
  const endMs = performance.now() + ms;
  let admitted = 0;
  while (performance.now() < endMs) {
    for (let time = 0; time < 50; time++) {
      if (node.tryAcquire(ORDERS, { messages: 1 }).granted) admitted++;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return admitted;
}

test('a node with the wrong key among others is not ready, admits nothing, and says why', async () => {
  const [a, b] = [await startQuick('wrong-key', 'a', { key: KEY }), await startQuick('wrong-key', 'b', { key: KEY })];
  await until(() => a.isReady && b.isReady && membersOf(a).length === 2);
  const wrong = await startQuick('wrong-key', 'wrong', { key: WRONG });
  await until(() => wrong.status().signatures[0]?.isApart === true);
  expect(await admittedBy(wrong, LONG_MS)).toBe(0);
  const { ready, notReadyBecause, degraded, signatures } = wrong.status();
  expect(ready).toBe(false);
  expect(notReadyBecause[0]).toMatch(/^no other node signs with this node's key .* and 2 nodes write with another/);
  expect(degraded[0]).toMatch(/^isolated: no other node signs/);
  expect(signatures[0]).toMatchObject({ strangers: 2, isApart: true });
  // The others know each other, whatever it writes.
  for (const node of [a, b]) {
    expect(node.status()).toMatchObject({ ready: true, signatures: [{ strangers: 1, isApart: false }, {}] });
  }
  // Alone, it is a cluster of its own.
  await Promise.all([a.close(), b.close()]);
  await until(() => wrong.isReady);
});

function isNoticed(node: WholeNode): boolean {
  return node.status().signatures.every(({ unverified }) => (unverified.unsigned ?? 0) > 0);
}

function membersOf(node: WholeNode): string[] {
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
