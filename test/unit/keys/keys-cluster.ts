import { silentTelemetry, type Telemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { OtherConstants } from '../../../src/config/resolved/constants.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { GivenOffsets, likeRedis } from '../../conformance/given-offsets.js';
import { WholeNode } from '../../whole-node.js';
import { VirtualTime } from '../demo/virtual-time.js';

export interface KeysCluster {
  readonly nodes: readonly WholeNode[];
  readonly time: VirtualTime;
  /** Records that nodes have appended beside signs of life, and all of them. */
  readonly appended: { reports: number; records: number };
  /** All that was appended. */
  readonly values: Buffer[];
  /** One more node. */
  join(): Promise<WholeNode>;
}

/** What a configuration says, and constants that it cannot say. */
export interface ClusterOverrides extends Readonly<Record<string, unknown>> {
  readonly constants?: OtherConstants;
}

/** Production nodes on one log in virtual time; the clock of every node is that time. A list of keys: one per node. */
export async function withKeys(
  count: number,
  keys: object,
  story: (cluster: KeysCluster) => Promise<void>,
  telemetry: Telemetry = silentTelemetry,
  { constants, ...others }: ClusterOverrides = {},
): Promise<void> {
  const time = new VirtualTime();
  const log = createMemoryLog();
  const registryLog = createMemoryLog();
  const appended = { reports: 0, records: 0 };
  try {
    const values: Buffer[] = [];
    const make = (at: number) => {
      const raw = {
        cluster: 'keys',
        node: String.fromCharCode(97 + at),
        topic: 'memory',
        keys: Array.isArray(keys) ? keys[at] : keys,
        ...others,
      };
      const config = resolveConfig(raw, { source: '(test)', env: {}, constants });
      const topic = new GivenOffsets(new MemoryTopic(log), likeRedis);
      const append = topic.append.bind(topic);
      topic.append = (records) => {
        appended.records += records.length;
        for (const { value } of records) if (value !== null) values.push(Buffer.from(value));
        // A report's key has a bundle behind its node (core/base/protocol/record.ts).
        appended.reports += records.filter(({ key }) => key.includes('/')).length;
        return append(records);
      };
      const registryTopic = new GivenOffsets(new MemoryTopic(registryLog), likeRedis);
      return new WholeNode({
        config,
        topic,
        registryTopic,
        telemetry,
        version: '0',
        nonce: at,
        clock: () => performance.now(),
      });
    };
    const nodes = Array.from({ length: count }, (_, at) => make(at));
    const started = Promise.all(nodes.map((node) => node.start()));
    await time.advance(2000);
    await started;
    const join = async () => {
      const node = make(nodes.length);
      nodes.push(node);
      const ready = node.start();
      await time.advance(1000);
      await ready;
      return node;
    };
    await story({ nodes, time, appended, values, join });
    const closed = Promise.all(nodes.map((node) => node.close()));
    await time.advance(5000);
    await closed;
  } finally {
    time.end();
  }
}

/** Runs a story on one node whose buckets are full. */
export async function onOneNode(
  keys: object,
  story: (node: WholeNode, cluster: KeysCluster) => Promise<void>,
  overrides: ClusterOverrides = {},
): Promise<void> {
  const settled = async (cluster: KeysCluster) => {
    await cluster.time.advance(120_000);
    await story(cluster.nodes[0], cluster);
  };
  await withKeys(1, keys, settled, undefined, overrides);
}

/** A change needs some turns of virtual time. */
export async function done<Value>(time: VirtualTime, change: Promise<Value>): Promise<Value> {
  change.catch(() => undefined);
  await time.advance(100);
  return change;
}

/** Asks so many times for a message; returns what was granted. */
export function takeAll(node: WholeNode, key: string, tries = 200): number {
  let taken = 0;
  for (let asked = 0; asked < tries; asked++) if (node.tryAcquire(key, { messages: 1 }).granted) taken++;
  return taken;
}

/** Asks until the node refuses; returns what was granted. */
export function useUp(node: WholeNode, key: string): number {
  let granted = 0;
  while (node.tryAcquire(key, { messages: 1 }).granted) granted++;
  return granted;
}

export const PER_MINUTE = (amount: number) => ({ quota: { publish: { messagesPerSecond: `${amount}/min` } } });
export const PER_SECOND = (messagesPerSecond: number) => ({ quota: { publish: { messagesPerSecond } } });
