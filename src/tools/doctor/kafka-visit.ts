import { type BrokerAddress, BrokerLink } from '../../topic/kafka/broker-link.js';
import { type KafkaTopicOptions, kafkaTopicOptions, tokensOf } from '../../topic/kafka/kafka-topic-options.js';
import { type Kafkajs, loadKafkajs } from '../../topic/kafka/kafkajs-internals.js';
import type { KafkaTopicConfig } from '../../topic/kafka/kind.js';

/** Holds connections to a configured Kafka, made as a node's, for one visit. */
export class KafkaVisit {
  readonly kafkajs: Kafkajs = loadKafkajs();
  readonly options: KafkaTopicOptions;
  readonly #tokens: ReturnType<typeof tokensOf>;
  readonly #links: BrokerLink[] = [];

  constructor(config: KafkaTopicConfig, timeoutMs: number) {
    const patient = {
      ...config,
      connectionTimeoutMs: Math.min(config.connectionTimeoutMs, timeoutMs),
      requestTimeoutMs: Math.min(config.requestTimeoutMs, timeoutMs),
    };
    this.#tokens = tokensOf(patient, unheard);
    const tokens = this.#tokens;
    this.options = kafkaTopicOptions(patient, { log: unheard }, tokens && (() => tokens.token()));
  }

  /** Opens a link. Rejects without the broker, or its permission. */
  async open(address: BrokerAddress): Promise<BrokerLink> {
    const link = new BrokerLink(this.kafkajs, address, this.options, unheard);
    this.#links.push(link);
    await link.connect();
    return link;
  }

  close(): void {
    for (const link of this.#links) link.destroy(new Error('seen'));
    this.#tokens?.close();
  }
}

function unheard(): void {}
