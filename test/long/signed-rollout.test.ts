import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, it } from 'vitest';
import { BY_TEST } from '../integration/changed-by.js';
import { createWholeNode, type WholeNode } from '../whole-node.js';

const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)];
const NODES = ['a', 'b', 'c'];
const GROUPS = Array.from({ length: 50 }, (_, at) => `group-${at}`);
/** The registry writes again what others may do, after 10 to 20 s; unchanged groups are reported again every 15 s here. */
const RENEWED_TIMEOUT_MS = 120_000;
const running = new Map<string, WholeNode>();
afterEach(async () => {
  await Promise.all([...running.values()].map((node) => node.close()));
  running.clear();
});

/** Restarts each node in turn, as an operator does, and goes on when the metric says so. */
const STEPS: readonly { readonly what: string; readonly hmac: object | null }[] = [
  { what: 'unsigned', hmac: null },
  { what: 'signed, not required', hmac: { key: OLD, verify: 'warn' } },
  { what: 'required', hmac: { key: OLD } },
  { what: 'the next key is known', hmac: { key: OLD, nextKey: NEW } },
  { what: 'the next key signs', hmac: { key: NEW, previousKey: OLD } },
  { what: 'the old key is gone', hmac: { key: NEW } },
  { what: 'not required any more', hmac: { key: NEW, verify: 'warn' } },
  { what: 'unsigned again', hmac: null },
];

it('signatures are introduced, changed and removed one node at a time, and nobody misses a node or a group', async () => {
  for (const [at, { what, hmac }] of STEPS.entries()) {
    for (const nodeId of NODES) {
      await running.get(nodeId)?.close();
      running.set(nodeId, await start(nodeId, hmac));
      await until(`${what}: all there after ${nodeId}`, () => at === 0 || isWhole());
    }
    if (at === 0) {
      for (const group of GROUPS) await running.get('a')?.registry?.propose(group, 0, {}, BY_TEST);
    }
    await until(`${what}: all there`, isWhole);
    await until(`${what}: safe to go on`, () => [...running.values()].every(isSafe), RENEWED_TIMEOUT_MS);
  }
});

async function start(nodeId: string, hmac: object | null): Promise<WholeNode> {
  const topic = { kind: 'memory', hmac };
  const config = { cluster: 'signed-rollout', node: nodeId, topic, groups: { orders: {} } };
  return createWholeNode({ config, env: {} }, { timing: { forcedReportMs: 15_000 } });
}

function isWhole(): boolean {
  return [...running.values()].every((node) => {
    const alive = node.status().members.filter(({ state }) => state === 'alive');
    return alive.length === running.size && GROUPS.every((group) => node.groups.has(group));
  });
}

function isSafe(node: WholeNode): boolean {
  return node.status().signatures.every(({ unverifiedKeys, previousKeys }) => unverifiedKeys + previousKeys === 0);
}

async function until(what: string, holds: () => boolean, timeoutMs = 30_000): Promise<void> {
  const givenUpAt = performance.now() + timeoutMs;
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error(`not within ${timeoutMs} ms: ${what}\n${seen()}`);
    await sleep(50);
  }
}

function seen(): string {
  return Array.from(running, ([nodeId, node]) => {
    const { members, signatures } = node.status();
    const alive = members.filter(({ state }) => state === 'alive').map((member) => member.nodeId);
    return JSON.stringify({ nodeId, alive, groups: node.groups.numbers.size, signatures });
  }).join('\n');
}
