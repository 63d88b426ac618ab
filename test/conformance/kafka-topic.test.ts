import { afterAll, beforeAll } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { makeTopicAnew } from '../kafka/admin.js';
import { compactTopic } from '../kafka/compaction.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { reportTopicConformance } from './report-topic.js';
import type { TopicWorld } from './topic-scene.js';

const APPEND_TIMEOUT_MS = 1000;

// A broker of its own: outages are made by freezing it.
let kafka: Kafka;
beforeAll(async () => {
  kafka = await startKafka();
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => kafka?.stop());

reportTopicConformance('kafka', async () => new KafkaWorld(kafka, 4), {
  appendTimeoutMs: APPEND_TIMEOUT_MS,
  deadlineMs: 15_000,
});

class KafkaWorld implements TopicWorld {
  readonly #kafka: Kafka;
  readonly #config: ReturnType<typeof kafkaTopicConfig>;

  constructor(kafka: Kafka, partitions: number) {
    this.#kafka = kafka;
    // A third of the defaults, so that what an outage takes is over sooner.
    const timeouts = { appendTimeoutMs: APPEND_TIMEOUT_MS, connectionTimeoutMs: 1000, requestTimeoutMs: 1000 };
    this.#config = kafkaTopicConfig(kafka.brokers, { partitions, ...timeouts });
  }

  makeTopic(): KafkaReportTopic {
    return new KafkaReportTopic(this.#config);
  }

  compact(): Promise<void> {
    return compactTopic(this.#kafka.brokers, this.#config.name, this.#config.partitions);
  }

  makeAnew(): Promise<void> {
    return makeTopicAnew(this.#kafka.brokers, this.#config.name, this.#config.partitions);
  }

  async breakTopic(): Promise<void> {
    await this.#kafka.nodes[0].freeze();
  }

  async healTopic(): Promise<void> {
    await this.#kafka.nodes[0].thaw();
  }

  /** Its topic stays: it is empty or small, and the broker ends with the tests. */
  async dispose(): Promise<void> {}
}
