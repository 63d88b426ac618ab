import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { makeTopicAnew } from '../kafka/admin.js';
import { compactTopic } from '../kafka/compaction.js';
import type { Kafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import type { TopicWorld } from './topic-scene.js';

export const KAFKA = { appendTimeoutMs: 1000 };

export class KafkaWorld implements TopicWorld {
  readonly #kafka: Kafka;
  readonly #config: ReturnType<typeof kafkaTopicConfig>;

  readonly #keepsForever: boolean;

  constructor(kafka: Kafka, partitions: number, keepsForever = false) {
    this.#kafka = kafka;
    this.#keepsForever = keepsForever;
    // A third of the defaults, so that what an outage takes is over sooner.
    const timeouts = { ...KAFKA, connectionTimeoutMs: 1000, requestTimeoutMs: 1000 };
    this.#config = kafkaTopicConfig(kafka.brokers, { partitions, ...timeouts });
  }

  makeTopic(): KafkaReportTopic {
    return new KafkaReportTopic(this.#config, { keepsForever: this.#keepsForever });
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
