import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { nodeKeyOf } from '../../../src/core/base/ids.js';
import { type NodeRecord, nodeRecordKey } from '../../../src/core/base/protocol/record.js';
import { configOf } from '../../../src/doors/library/start-with-options.js';
import { assemblyOf } from '../../../src/node/loop/start-node.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';

const CLUSTER = 'fenced';
let node: WholeNode;
afterEach(() => node.close());

/** On four partitions. */
async function readyNode(): Promise<WholeNode> {
  const config = await configOf({ config: { cluster: CLUSTER, node: 'a', topic: 'memory', groups: { orders: {} } } });
  const topic = new MemoryTopic(createMemoryLog({ partitions: 4 }), { appendTimeoutMs: 5000 });
  node = new WholeNode({ ...(await assemblyOf(config, silentTelemetry)), topic });
  await node.start();
  await node.ready();
  return node;
}

function read(nodeId: string, incarnation: number, partitions: number): void {
  const author = { nodeKey: nodeKeyOf(CLUSTER, nodeId), incarnation, sequence: 1 };
  const record: NodeRecord = { kind: 'node', author, nodeId, version: 'test', partitions };
  const key = nodeRecordKey(author.nodeKey);
  node.step({ kind: 'records-read', records: [{ partition: 0, offset: 1000, appendMs: Date.now(), key, record }] });
}

it.each([
  ['a member counts fewer partitions', 'old', 0x10000, 2, 'PARTITIONS_DIFFER', 'a member works with fewer partitions'],
  ['a newer process has the same id', 'a', 0x7fffffff, 4, 'NODE_FENCED', 'a newer process uses this node id'],
])('%s: the node says so, and why it no longer decides', async (_, nodeId, incarnation, partitions, code, because) => {
  await readyNode();
  const errors: QuotameshError[] = [];
  node.onFenced = (error) => errors.push(error);
  read(nodeId, incarnation, partitions);
  expect(errors.map((error) => error.code)).toEqual([code]);
  const { reason, because: told } = node.tryAcquire('orders', { messages: 1 }) as { reason: string; because: string };
  expect([reason, told]).toEqual(['not-ready', expect.stringContaining(because)]);
});

it.each([
  ['throws', () => throwing()],
  ['throws what is no error', () => throwing('disk full')],
  ['returns a promise that is rejected', async () => throwing()],
])(
  'an onFenced that %s hurts nobody: the process is warned, the node has stopped and can be closed',
  async (_, broken) => {
    await readyNode();
    const rejected: unknown[] = [];
    const take = (reason: unknown) => rejected.push(reason);
    process.on('unhandledRejection', take);
    onTestFinished(() => void process.off('unhandledRejection', take));
    const warned = once(process, 'warning', { signal: AbortSignal.timeout(2000) });
    node.onFenced = broken;
    expect(() => read('a', 0x7fffffff, 4)).not.toThrow();
    expect(await warned).toMatchObject([
      {
        name: 'QuotameshWarning',
        code: 'CALLBACK_FAILED',
        message: expect.stringMatching(/^onFenced failed: .*disk full/),
      },
    ]);
    await turn();
    expect(rejected).toEqual([]);
    expect(node.tryAcquire('orders', { messages: 1 })).toMatchObject({ granted: false, reason: 'not-ready' });
  },
);

function throwing(what: unknown = new Error('disk full')): void {
  throw what;
}
