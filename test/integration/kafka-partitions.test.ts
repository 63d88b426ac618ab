import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodeStatus } from '../../src/node/api/node-status.js';
import { Cluster } from '../cluster/cluster.js';
import { makeTopicAnew, withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const EXIT_CONFIG = 78;
/** Nodes look at the topic every 10 s. */
const NOTICE_MS = 60_000;

let brokers: readonly string[];
let cluster: Cluster;
let topic: string;

beforeAll(async () => {
  brokers = await sharedKafka();
  const { name } = kafkaTopicConfig(brokers);
  topic = name;
  const kafka = { kind: 'kafka', brokers, name, partitions: 2, replicationFactor: 1 };
  cluster = await Cluster.create({ topic: kafka, nodeSettings: { registry: { enabled: false } } });
  await cluster.start('a', 'b');
}, KAFKA_START_TIMEOUT_MS);

afterAll(() => cluster?.stop());

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
  const old = ['a', 'b'].map((id) => cluster.node(id));
  for (const { child } of old) child.signal('SIGTERM');
  expect((await Promise.all(old.map(({ child }) => child.ended))).map(({ code }) => code)).toEqual([0, 0]);
  await cluster.start('a', 'b');
  for (const id of ['a', 'b']) {
    const status = await until(id, ({ members }) => members.length === 2);
    expect(status).toMatchObject({ topic: { partitions: 6 }, degraded: [] });
  }
}, 180_000);

async function expectOldCount(found: number): Promise<void> {
  const says = `partitions added: the topic has ${found}, this cluster reads the first 2`;
  for (const id of ['a', 'b']) {
    // A topic that is made anew is away for a moment, and those in it wait for each other.
    const { topic } = await until(id, ({ degraded }) => degraded.length === 1 && degraded[0] === says);
    expect(topic.partitions).toBe(2);
  }
  for (const id of ['a', 'b']) expect(cluster.node(id).child.output).toContain(`${found} partitions now`);
  const newcomer = await cluster.spawn('c');
  expect((await newcomer.child.ended).code, newcomer.child.output).toBe(EXIT_CONFIG);
  expect(newcomer.child.output).toMatch(
    new RegExp(`node c finds ${found} partitions, [ab] works with the 2 that the cluster was founded with`),
  );
  expect(newcomer.child.output).toContain(
    `Use a topic of 2 partitions; or stop all nodes, and start them again with ${found}.`,
  );
  cluster.nodes.delete('c');
  for (const id of ['a', 'b']) await cluster.node(id).ready();
}

async function until(id: string, holds: (status: NodeStatus) => boolean): Promise<NodeStatus> {
  const deadlineMs = performance.now() + NOTICE_MS;
  for (;;) {
    const status = await cluster.status(id);
    if (holds(status)) return status;
    if (performance.now() > deadlineMs) throw new Error(`not within ${NOTICE_MS} ms: ${JSON.stringify(status)}`);
    await sleep(100);
  }
}
