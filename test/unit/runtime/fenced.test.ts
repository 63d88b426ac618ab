import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
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
async function startNode(change: (topic: MemoryTopic) => void = () => {}): Promise<void> {
  const config = await configOf({ config: { cluster: CLUSTER, node: 'a', topic: 'memory', groups: { orders: {} } } });
  const topic = new MemoryTopic(createMemoryLog({ partitions: 4 }), { appendTimeoutMs: 5000 });
  change(topic);
  node = new WholeNode({ ...(await assemblyOf(config, silentTelemetry)), topic });
  await node.start();
}

async function readyNode(): Promise<void> {
  await startNode();
  await node.ready();
}

function read(nodeId: string, incarnation: number, partitions: number): void {
  const author = { nodeKey: nodeKeyOf(CLUSTER, nodeId), incarnation, sequence: 1 };
  const record: NodeRecord = { kind: 'node', author, nodeId, version: 'test', partitions };
  const key = nodeRecordKey(author.nodeKey);
  node.step({ kind: 'records-read', records: [{ partition: 0, offset: 1000, appendMs: Date.now(), key, record }] });
}

describe.each([
  ['a member counts fewer partitions', 'old', 0x10000, 2, 'PARTITIONS_DIFFER', /old works with the 2 .* a topic of 2/],
  ['a newer process has the same id', 'a', 0x7fffffff, 4, 'NODE_FENCED', /a newer process .* its own --node id/],
])('%s', (_, nodeId, incarnation, partitions, code, because) => {
  it('the node says so, and why it no longer decides', async () => {
    await readyNode();
    const errors: QuotameshError[] = [];
    node.onFenced = (error) => errors.push(error);
    read(nodeId, incarnation, partitions);
    expect(errors.map((error) => error.code)).toEqual([code]);
    const { reason, because: told } = node.tryAcquire('orders', { messages: 1 }) as { reason: string; because: string };
    expect([reason, told]).toEqual(['not-ready', expect.stringMatching(because)]);
  });

  it('who waits for the node is told at once', async () => {
    await startNode((topic) => {
      // Nobody reads what it appends.
      topic.append = async () => {};
    });
    await expect.poll(() => node.coordinator?.phase).toBe('joining');
    const [before, after] = [node.ready(60_000), () => node.ready(60_000)];
    read(nodeId, incarnation, partitions);
    await expect(before).rejects.toMatchObject({ code });
    await expect(after()).rejects.toMatchObject({ code });
  });
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
