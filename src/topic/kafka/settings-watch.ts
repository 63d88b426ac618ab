import type { TopicLog } from '../remote/topic-log.js';
import type { BrokerLink } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { mistakeIn, type VerifiedTopic } from './topic-preparation.js';

/**
 * Watches a topic's settings. Running nodes go on, perhaps losing records; starting ones are refused. Logs once when a
 * mistake comes, changes, and goes.
 */
export class SettingsWatch {
  readonly #kafkajs: Kafkajs;
  readonly #topic: VerifiedTopic;
  readonly #log: TopicLog;
  #mistake: string | null = null;

  constructor(kafkajs: Kafkajs, topic: VerifiedTopic, log: TopicLog) {
    this.#kafkajs = kafkajs;
    this.#topic = topic;
    this.#log = log;
  }

  /** Mistakes, with the command that corrects them; null = none at the last look. */
  get mistake(): string | null {
    return this.#mistake;
  }

  /** Looks at the settings. @param partitions of this node since it opened the topic */
  async look(link: BrokerLink, partitions: number): Promise<void> {
    const mistake = await mistakeIn(this.#kafkajs, link, this.#topic, partitions);
    if (mistake === this.#mistake) return;
    this.#mistake = mistake;
    const { topic } = this.#topic;
    if (mistake === null) this.#log('info', 'Kafka topic has the settings again that nodes need', { topic });
    else this.#log('warn', `Kafka topic is not set up as nodes need it: ${mistake}`, { topic });
  }
}

/** Counts partitions added to a topic in use. Running nodes do not read them; starting ones are refused. */
export class AddedPartitions {
  readonly #topic: string;
  readonly #log: TopicLog;
  #found = 0;

  constructor(topic: string, log: TopicLog) {
    this.#topic = topic;
    this.#log = log;
  }

  /** Partitions when Kafka was last read. */
  get found(): number {
    return this.#found;
  }

  /** Compares. @param inUse partitions of this node since it opened the topic */
  heard(found: number, inUse: number): void {
    const isNews = found > Math.max(inUse, this.#found);
    this.#found = found;
    if (!isNews) return;
    this.#log('warn', `Kafka topic has ${found} partitions now, this cluster works with the first ${inUse}`, {
      topic: this.#topic,
      remedy: 'Nodes that start count all of them and are refused. Stop all nodes, and start them again.',
    });
  }
}
