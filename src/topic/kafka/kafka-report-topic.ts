import { CODEC_NUMBERS, codecOf } from '../codecs/codecs.js';
import { RemoteReportTopic } from '../remote/remote-report-topic.js';
import type { TokenSource } from '../tokens/token-source.js';
import { type KafkaTopicHooks, kafkaTopicOptions, tokensOf } from './kafka-topic-options.js';
import { loadKafkajs } from './kafkajs-internals.js';
import type { KafkaTopicConfig } from './kind.js';
import { KafkaSupervisor } from './topic-supervisor.js';

/**
 * Reads a compacted Kafka topic from its start, without a consumer group.
 *
 *     TopicSupervisor ── TopicDiscovery      who leads which partition; creates and verifies the topic
 *        └─ PartitionLeader per broker       one BrokerLink, whose kafkajs connections die at their first error
 *             ├─ LeaderReader                a fetch loop; PartitionCursor knows how far
 *             └─ LeaderWriter                produces what waits in the Outbox
 *
 * Beyond the port, attempts go on after `onFailed` (topic deleted, permission withdrawn), and `onRecovered` follows a
 * repair. Another log of the same name: docs/decisions/0047.
 */
export class KafkaReportTopic extends RemoteReportTopic {
  readonly #tokens: TokenSource | null;

  /** Throws KAFKAJS_VERSION where another kafkajs is installed, and TOPIC_CODEC_MISSING. */
  constructor(config: KafkaTopicConfig, hooks: KafkaTopicHooks = {}) {
    const kafkajs = loadKafkajs();
    codecOf(CODEC_NUMBERS[config.compression]);
    const log = hooks.log ?? (() => {});
    const tokens = tokensOf(config, log);
    const options = kafkaTopicOptions(config, hooks, tokens && (() => tokens.token()));
    super({
      store: 'Kafka',
      topic: options.topic,
      appendTimeoutMs: config.appendTimeoutMs,
      log,
      supervise: (parts) => new KafkaSupervisor({ kafkajs, options, ...parts }),
    });
    this.#tokens = tokens;
  }

  override close(): Promise<void> {
    this.#tokens?.close();
    return super.close();
  }
}
