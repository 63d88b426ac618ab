import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Access } from '../../src/base/access/access.js';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import { EnvoyDoor } from '../../src/doors/envoy/envoy-door.js';
import { envoy } from '../../src/doors/envoy/generated/messages.js';
import { createAcquireOutcomes } from '../../src/doors/http/acquire/acquire-answers.js';
import { createNode } from '../../src/doors/library/create-node.js';
import { createMetrics } from '../../src/doors/telemetry/metrics.js';
import type { StrictStatus } from '../../src/node/api/node-status.js';
import type { QuotaNode } from '../../src/node/api/quota-node.js';
import { patchGroup } from '../../src/node/groups/changes/change-group.js';
import { partsOf } from '../../src/node/loop/parts-of.js';
import { GrpcClient } from '../unit/envoy/grpc-client.js';
import { SHOULD_RATE_LIMIT } from '../unit/envoy/rls-scene.js';

const CLUSTER = 'strict-nodes';
const DEPTH = 20;
const BY = { name: 'test', how: 'library', requestId: '1', atMs: 0 };
/** A group as Envoy names it. */
const EDGE = 'edge/plan:paid';

function nodeOf(nodeId: string, promise: 'strict' | 'relaxed' = 'strict', cluster = CLUSTER): Promise<QuotaNode> {
  const orders = { promise, quota: { publish: { messagesPerSecond: 100 } }, burst: DEPTH };
  const calm = { quota: { publish: { messagesPerSecond: 100 } } };
  // It fills in twenty seconds, and the wait is longer than a round trip on a busy machine.
  const edge = { ...orders, quota: { publish: { messagesPerSecond: 1 } }, waitMs: 1000 };
  const groups = { orders, calm, ...(cluster === CLUSTER && { [EDGE]: edge }) };
  const config = { cluster, topic: { kind: 'memory' }, groups, metrics: { perGroup: 'all' } };
  return createNode({ config, nodeId });
}

async function untilKnown(nodes: readonly QuotaNode[]): Promise<void> {
  for (let waited = 0; waited < 600; waited++) {
    if (nodes.every((node) => [...partsOf(node).strict.all.values()].every(({ bucket }) => bucket.isKnown))) return;
    await sleep(50);
  }
  throw new Error('no bucket after 30 s');
}

async function metricsOf(quotaNode: QuotaNode): Promise<string> {
  const node = partsOf(quotaNode);
  const access = new Access(node.config.auth, node.clock, { log: () => {} });
  const incidents = { unhandledRejections: 0 };
  const { text } = await createMetrics({ node, access, outcomes: createAcquireOutcomes(), incidents }).scrape(
    undefined,
  );
  return text;
}

describe('three nodes with a strict group', () => {
  let nodes: QuotaNode[] = [];
  beforeAll(async () => {
    nodes = await Promise.all(['a', 'b', 'c'].map((id) => nodeOf(id)));
    await untilKnown(nodes);
    await sleep(1000);
  }, 60_000);
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  test('who cannot wait sees what the node holds, who waits has the burst of an idle node', async () => {
    expect(nodes[0].tryAcquire('orders', { messages: 1 })).toMatchObject({ granted: false, reason: 'quota' });
    const waitMs = nodes[0].usualWaitMs('orders');
    expect(waitMs).toBeGreaterThan(0);
    expect(nodes[0].usualWaitMs('calm')).toBe(0);
    const decision = await nodes[0].acquire('orders', { messages: 10 }, { waitMs: 5000 });
    expect(decision.granted).toBe(true);
  });

  test('a gateway waits for a round trip, too, as long as it has the patience', async () => {
    const access = new Access(null, performance.now, silentTelemetry);
    const door = new EnvoyDoor(partsOf(nodes[2]), { host: '127.0.0.1', port: 0 }, silentTelemetry, access);
    const client = await GrpcClient.open(await door.listen());
    const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
    const entries = [{ key: 'plan', value: 'paid' }];
    const ask = async (hitsAddend: number) => {
      const request = RateLimitRequest.encode({ domain: 'edge', descriptors: [{ entries }], hitsAddend }).finish();
      const { messages, text } = await client.ask(SHOULD_RATE_LIMIT, request);
      return messages[0] === undefined ? text : RateLimitResponse.decode(messages[0]).overallCode;
    };
    const { OK, OVER_LIMIT } = RateLimitResponse.Code;
    try {
      expect(await ask(1)).toBe(OK);
      expect(await ask(DEPTH)).toBe(OVER_LIMIT);
    } finally {
      client.close();
      await door.close();
    }
  });

  test('all together grant no more than one bucket, and most of it', async () => {
    const from = performance.now();
    const times: number[] = [];
    const ask = async (node: QuotaNode) => {
      while (performance.now() - from < 3000) {
        const { granted } = await node.acquire('orders', { messages: 1 }, { waitMs: 50 });
        if (granted) times.push(performance.now());
      }
    };
    await Promise.all(nodes.flatMap((node) => [ask(node), ask(node), ask(node)]));
    const seconds = ((times.at(-1) as number) - from) / 1000;
    expect(times.length).toBeLessThanOrEqual(DEPTH + 100 * (seconds + 0.002));
    expect(times.length).toBeGreaterThan(100);
    expect(nodes[0].groupStatus('orders')).toMatchObject({ promise: 'strict' });
  });

  test('a quota that is lowered is in force once all holders act by it, in the order of the log', async () => {
    await Promise.all(nodes.map((node) => node.acquire('orders', { messages: 1 }, { waitMs: 5000 })));
    const lower = { quota: { publish: { messagesPerSecond: 50 } }, burst: 10 };
    const { strict } = await patchGroup(partsOf(nodes[1]), 'orders', lower, null, BY);
    expect(strict).toMatchObject({ withinMs: strict?.isInForce === true ? 0 : 6000 });
    const told = () => nodes.map((node) => node.groupStatus('orders').directions.publish.strict);
    const inForce = { state: 'kept', quotaPerSecond: 50, depth: 10, isInForce: true, waitsFor: [] };
    await expect.poll(told, { timeout: 20_000 }).toEqual(nodes.map(() => expect.objectContaining(inForce)));
    expect(nodes[2].groupStatus('orders')).toMatchObject({ promise: 'strict', origin: 'run-time' });
    await nodes[1].groups.delete('orders');
    await expect.poll(() => told().map((each) => each?.depth), { timeout: 20_000 }).toEqual([DEPTH, DEPTH, DEPTH]);
  });

  test('metrics say if it is kept, what waits in the log and what is held', async () => {
    await nodes[0].acquire('orders', { messages: 1 }, { waitMs: 5000 });
    let text = '';
    const written = (name: string, value: number) =>
      text.includes(`quotamesh_group_strict_${name}{group="orders",direction="publish"} ${value}\n`);
    // Read one after the other: equal once the bucket is full again.
    const isTold = async () => {
      text = await metricsOf(nodes[0]);
      const { pool, held } = nodes[0].groupStatus('orders').directions.publish.strict as StrictStatus;
      return written('kept', 1) && written('pool_messages', pool) && written('held_messages', held);
    };
    await expect.poll(isTold, { timeout: 20_000 }).toBe(true);
    expect(text).not.toMatch(/strict_kept\{group="calm"/);
  });

  test('what a strict group cannot keep is refused by name', async () => {
    const [node] = nodes;
    const unable = expect.objectContaining({ code: 'STRICT_UNABLE' });
    expect(() => node.consume('orders', { messages: 1 })).toThrow(unable);
    expect(() => node.reserve('orders', { messages: 1 })).toThrow(unable);
    await expect(node.takeBatch('orders', { messages: 1 })).rejects.toThrow(unable);
    expect(() => node.tryAcquire('orders', { messages: DEPTH + 1 })).toThrow(/at most 20|maxRequest/);
    expect(node.tryAcquire('calm', { messages: 1 }).granted).toBe(true);
  });
});

const TWO = `${CLUSTER}-two`;

test('a node that alone says strict refuses, and names the others', async () => {
  const relaxed = await nodeOf('b', 'relaxed', TWO);
  const strict = await nodeOf('a', 'strict', TWO);
  try {
    const state = () => strict.groupStatus('orders').directions.publish.strict;
    await expect.poll(() => state()?.state, { timeout: 20_000 }).toBe('others-relaxed');
    const refused = strict.tryAcquire('orders', { messages: 1 });
    expect(refused).toMatchObject({ reason: 'not-ready', because: 'other nodes keep this group relaxed: b' });
    expect(strict.status().degraded).toContainEqual(expect.stringMatching(/strict group orders admits nothing: .* b$/));
    expect(await metricsOf(strict)).toContain('quotamesh_degraded{reason="strict"} 1\n');
    await relaxed.close();
    await expect.poll(() => state()?.state, { timeout: 20_000 }).toBe('kept');
    expect(strict.status().degraded).toEqual([]);
    await expect.poll(() => strict.tryAcquire('orders', { messages: 1 }).granted, { timeout: 20_000 }).toBe(true);
  } finally {
    await Promise.all([relaxed.close(), strict.close()]);
  }
}, 60_000);

test('a limit of the node refuses strict groups of run time by name', async () => {
  const limits = { publish: { messagesPerSecond: 1000 } };
  const node = await createNode({
    config: { cluster: `${CLUSTER}-limits`, topic: { kind: 'memory' }, limits, groups: {} },
  });
  const paid = { promise: 'strict', quota: { publish: { messagesPerSecond: 10 } } };
  await expect(node.groups.set('paid', paid)).rejects.toThrow(/strict cannot stand beside limits.publish/);
  await node.close();
});
