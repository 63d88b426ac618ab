import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { expectRisingOffsets, settled, text } from '../conformance/topic-expectations.js';
import { withAdmin } from '../kafka/admin.js';
import { type Kafka, startKafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';

/** The controllers give a silent broker up after 3 s (broker-properties.ts); then others lead. */
const DEADLINE_MS = 60_000;
const APPEND_EVERY_MS = 20;

let kafka: Kafka | undefined;
const opened: KafkaReportTopic[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((topic) => topic.close()));
  await kafka?.stop();
});

it.each(['kill', 'freeze'] as const)(
  'survives a %s of each of three brokers in turn without losing a record',
  async (how) => {
    kafka = await startKafka({ nodes: 3 });
    const config = kafkaTopicConfig(kafka.brokers, { partitions: 6, replicationFactor: 3 });
    const [writing, reading] = [await open(config), await open(config)];
    const acknowledged = new Map<number, string[]>();
    let running = true;
    const writers = Array.from({ length: 6 }, async (_, partition) => {
      const done: string[] = [];
      acknowledged.set(partition, done);
      for (let i = 0; running; i++) {
        const value = `${partition}: ${i}`;
        const record = { partition, key: `key-${partition}`, value: Buffer.from(value) };
        if ((await settled(writing.topic.append([record]))) === 'done') done.push(value);
        await sleep(APPEND_EVERY_MS);
      }
    });
    for (const [i, node] of kafka.nodes.entries()) {
      await sleep(2000);
      if (how === 'kill') await node.kill();
      else await node.freeze();
      for (const { listener } of [writing, reading]) {
        await listener.until('lost', () => listener.lost.length > i, DEADLINE_MS);
        // Others lead now: recovery does not wait for the broker.
        await listener.until('recovered', () => listener.recovered === listener.lost.length, DEADLINE_MS);
      }
      if (how === 'kill') await node.start();
      else await node.thaw();
      await kafka.untilReady();
      for (const { listener } of [writing, reading]) {
        await listener.until('steady', () => listener.recovered === listener.lost.length, DEADLINE_MS);
      }
    }
    await sleep(2000);
    running = false;
    await Promise.all(writers);
    for (const { topic, listener } of [writing, reading]) {
      for (const [partition, values] of acknowledged) {
        const read = () => listener.records.filter((r) => r.partition === partition).map((r) => text(r.value));
        await listener.until('the last value', () => read().includes(values.at(-1) ?? ''), DEADLINE_MS);
        const known = new Set<string | null>(values);
        expect(read().filter((value) => known.has(value))).toEqual(values);
        expect(values.length).toBeGreaterThan(100);
      }
      expectRisingOffsets(topic, listener.records);
      expect(listener.failures).toEqual([]);
      expect(listener.epochs).toHaveLength(1);
    }
  },
  300_000,
);

it('says that a deleted topic is gone for good, and reads it again when it comes back', async () => {
  kafka = await startKafka();
  const { brokers } = kafka;
  const config = kafkaTopicConfig(brokers);
  const { topic, listener } = await open(config);
  for (let i = 0; i < 3; i++) await topic.append([{ partition: 0, key: `${i}`, value: null }]);
  await listener.until('all', () => listener.records.length === 3, DEADLINE_MS);
  await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [config.name] }));
  await listener.until('failed', () => listener.failures.length === 1, DEADLINE_MS);
  expect(listener.failures[0]).toMatchObject({ code: 'TOPIC_MISSING' });
  const other = await open(config);
  await other.topic.append([{ partition: 0, key: 'anew', value: null }]);
  await listener.until('the new record', () => listener.has('anew'), DEADLINE_MS);
  expectRisingOffsets(topic, listener.delivered);
  expect(listener.epochs).toHaveLength(2);
  expect(listener).toMatchObject({ recovered: 1 });
  expect(listener.failures).toHaveLength(1);
}, 120_000);

async function open(config: ReturnType<typeof kafkaTopicConfig>) {
  const topic = new KafkaReportTopic(config);
  opened.push(topic);
  const listener = new RecordingListener();
  await topic.open(listener);
  return { topic, listener };
}
