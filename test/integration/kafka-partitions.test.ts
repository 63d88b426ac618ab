import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Telemetry } from '../../src/base/ports/telemetry.js';
import { createNode } from '../../src/doors/library/create-node.js';
import type { QuotaNode } from '../../src/node/api/quota-node.js';
import { Cluster } from '../cluster/cluster.js';

import { makeTopicAnew, withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const EXIT_CONFIG = 78;
const OTHERS = { registry: { enabled: false }, groups: { orders: {} } };
/** Nodes look at the topic every 10 s. */
const NOTICE = { timeout: 60_000 };

let brokers: readonly string[];
let topic: string;
let kafka: Readonly<Record<string, unknown>>;
/** Runs the newcomers: only processes have exit codes. */
let cluster: Cluster;
let nodes: readonly QuotaNode[] = [];
const logged: string[] = [];

beforeAll(async () => {
  brokers = await sharedKafka();
  topic = kafkaTopicConfig(brokers).name;
  kafka = { kind: 'kafka', brokers, name: topic, partitions: 2, replicationFactor: 1 };
  cluster = await Cluster.create({ topic: kafka, nodeSettings: OTHERS });
  nodes = await Promise.all(['a', 'b'].map(start));
}, KAFKA_START_TIMEOUT_MS);

afterAll(() => Promise.all([...nodes.map((node) => node.close()), cluster?.stop()]));

test('partitions that are added: who runs goes on with the old count and says so, who starts stops by name', async () => {
  const more = { topicPartitions: [{ topic, count: 4 }], timeout: 5000 };
  await withAdmin(brokers, (admin) => admin.createPartitions(more));
  await expectOldCount(4);
}, 180_000);

test('a topic that is made anew with more: the same', async () => {
  await makeTopicAnew(brokers, topic, 6);
  await expectOldCount(6);
}, 180_000);

test('once all are stopped, those who start work with the new count', async () => {
  await Promise.all(nodes.map((node) => node.close()));
  nodes = await Promise.all(['a', 'b'].map(start));
  for (const node of nodes) {
    await expect.poll(() => node.status().members.length, NOTICE).toBe(2);
    expect(node.status()).toMatchObject({ topic: { partitions: 6 }, degraded: [] });
  }
}, 180_000);

async function expectOldCount(found: number): Promise<void> {
  const says = `partitions added: the topic has ${found}, this cluster reads the first 2`;
  for (const node of nodes) {
    // A topic that is made anew is away for a moment, and those in it wait for each other.
    await expect.poll(() => node.status().degraded, NOTICE).toEqual([says]);
    expect(node.status().topic.partitions).toBe(2);
    expect(logged.join('\n')).toMatch(new RegExp(`${node.nodeId}: .*${found} partitions now`));
  }
  const { child } = await cluster.spawn('c');
  expect((await child.ended).code, child.output).toBe(EXIT_CONFIG);
  expect(child.output).toMatch(
    new RegExp(`node c finds ${found} partitions, [ab] works with the 2 that the cluster was founded with`),
  );
  expect(child.output).toContain(`Use a topic of 2 partitions; or stop all nodes, and start them again with ${found}.`);
  for (const node of nodes) expect(node.isReady).toBe(true);
}

function start(node: string): Promise<QuotaNode> {
  const log: Telemetry['log'] = (_, message, facts) => logged.push(`${node}: ${message} ${JSON.stringify(facts)}`);
  return createNode({ config: { cluster: 'test', node, topic: kafka, ...OTHERS }, env: {}, telemetry: { log } });
}
