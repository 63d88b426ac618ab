import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

/** Measured: 0.2 to 0.3 %; kafkajs's idle timer alone would be 3.4 %, a fetch loop that spins 100 %. */
const IDLE_CPU_RATIO_MAX = 0.02;
const IDLE_MS = 2000;
/** Measured: 1.3 to 3 ms median; with Nagle's algorithm 40 ms, waiting for fetchMaxWaitMs 125 ms. */
const MEDIAN_MS_MAX = 30;
const APPENDS = 100;
/** Fewer appends than fetchIntervalMs paces, as a node that reports alone makes: at most one in reportGapMs, 50 ms. */
const PAUSE_MS = 50;

let brokers: readonly string[];
beforeAll(async () => {
  brokers = await sharedKafka();
}, KAFKA_START_TIMEOUT_MS);

let topic: KafkaReportTopic;
let listener: RecordingListener;
beforeEach(async () => {
  topic = new KafkaReportTopic(kafkaTopicConfig(brokers, { partitions: 4 }));
  listener = new RecordingListener();
  await topic.open(listener);
});
afterEach(() => topic.close());

it('costs next to nothing when nobody writes', async () => {
  await sleep(300);
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()];
  await sleep(IDLE_MS);
  const { user, system } = process.cpuUsage(cpu);
  const ratio = (user + system) / 1000 / (performance.now() - startedAt);
  console.log(`kafka topic, idle: ${(100 * ratio).toFixed(2)} % of a core`);
  expect(ratio).toBeLessThan(IDLE_CPU_RATIO_MAX);
});

it('reads its own append back within milliseconds', async () => {
  const tookMs: number[] = [];
  for (let i = 0; i < APPENDS; i++) {
    const startedAt = performance.now();
    const appended = topic.append([{ partition: i % 4, key: `key-${i}`, value: Buffer.alloc(200) }]);
    await listener.until(`key-${i}`, () => listener.delivered.length > i, 10_000);
    tookMs.push(performance.now() - startedAt);
    await appended;
    await sleep(PAUSE_MS);
  }
  const median = tookMs.sort((a, b) => a - b)[APPENDS / 2];
  console.log(`kafka topic, append to own read: median ${median.toFixed(1)} ms, worst ${tookMs.at(-1)?.toFixed(1)} ms`);
  expect(median).toBeLessThan(MEDIAN_MS_MAX);
});
