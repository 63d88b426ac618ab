import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { BrokerLink, nameOf, parseAddress } from '../../src/topic/kafka/broker-link.js';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { loadKafkajs } from '../../src/topic/kafka/kafkajs-internals.js';
import { fetchTopicMetadata } from '../../src/topic/kafka/topic-metadata.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { expectRisingOffsets, settled, text } from '../conformance/topic-expectations.js';
import { withAdmin } from '../kafka/admin.js';
import { type Kafka, startKafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';

/** The controllers give a silent broker up after 3 s (broker-properties.ts); then others lead. */
const DEADLINE_MS = 60_000;
const APPEND_EVERY_MS = 20;
/** docs/operate/when-the-topic-is-away.md: what was away is followed again this long after it is back, here with other leaders. */
const BACK_WITHIN_MS = 5000;
const LOOK_EVERY_MS = 50;
const PARTITIONS = 6;
const ASKING = { clientId: 'test', connectionTimeoutMs: 10_000, requestTimeoutMs: 10_000, tls: false, sasl: null };

let kafka: Kafka | undefined;
const opened: KafkaReportTopic[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((topic) => topic.close()));
  await kafka?.stop();
});

it.each(['kill', 'freeze'] as const)(
  'survives a %s of each of three brokers in turn: no record is lost, appends go on within 5 s of the election',
  async (how) => {
    kafka = await startKafka({ nodes: 3 });
    const config = kafkaTopicConfig(kafka.brokers, { partitions: PARTITIONS, replicationFactor: 3 });
    const [writing, reading] = [await open(config), await open(config)];
    const acknowledged = new Map<number, string[]>();
    /** When the append of each partition was acknowledged last. */
    const lastMs: number[] = [];
    let running = true;
    const writers = Array.from({ length: PARTITIONS }, async (_, partition) => {
      const done: string[] = [];
      acknowledged.set(partition, done);
      for (let i = 0; running; i++) {
        const value = `${partition}: ${i}`;
        const record = { partition, key: `key-${partition}`, value: Buffer.from(value) };
        if ((await settled(writing.topic.append([record]))) === 'done') {
          done.push(value);
          lastMs[partition] = performance.now();
        }
        await sleep(APPEND_EVERY_MS);
      }
    });
    for (const [i, node] of kafka.nodes.entries()) {
      await sleep(2000);
      if (how === 'kill') await node.kill();
      else await node.freeze();
      const electedMs = await untilLedByOthers(config.name, i);
      const takesMs = await untilAppended(lastMs, electedMs);
      console.log(
        `${how} of broker ${i + 1}: appends go on ${takesMs.map((ms) => ms.toFixed(0)).join(', ')} ms after it`,
      );
      expect(Math.max(...takesMs)).toBeLessThan(BACK_WITHIN_MS);
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

/** When every partition has a leader that is not this broker, as another one tells it that is asked alone. */
async function untilLedByOthers(topic: string, broker: number): Promise<number> {
  const { brokers } = kafka as Kafka;
  const [gone, asked] = [brokers[broker], brokers[(broker + 1) % brokers.length]];
  const kafkajs = loadKafkajs();
  const link = new BrokerLink(kafkajs, parseAddress(asked), ASKING, () => {});
  await link.connect();
  try {
    const deadlineMs = performance.now() + DEADLINE_MS;
    while (performance.now() < deadlineMs) {
      const { leaders } = await fetchTopicMetadata(kafkajs, link, topic);
      const isLed = leaders.every((leader) => leader !== null && nameOf(leader) !== gone);
      if (leaders.length === PARTITIONS && isLed) return performance.now();
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    link.destroy(new Error('no longer needed'));
  }
  throw new Error('no other broker was elected');
}

/** How long after the election each partition took an append again. */
async function untilAppended(lastMs: readonly number[], electedMs: number): Promise<number[]> {
  const takes: number[] = [];
  const deadlineMs = electedMs + DEADLINE_MS;
  while (takes.filter(Number.isFinite).length < PARTITIONS && performance.now() < deadlineMs) {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const ms = lastMs[partition] ?? 0;
      if (takes[partition] === undefined && ms > electedMs) takes[partition] = ms - electedMs;
    }
    await sleep(5);
  }
  return Array.from({ length: PARTITIONS }, (_, partition) => takes[partition] ?? Infinity);
}

async function open(config: ReturnType<typeof kafkaTopicConfig>) {
  const topic = new KafkaReportTopic(config);
  opened.push(topic);
  const listener = new RecordingListener();
  await topic.open(listener);
  return { topic, listener };
}
