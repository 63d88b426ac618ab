import type { TopicLog } from '../remote/topic-log.js';
import type { BrokerLink } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { mistakeIn, type WantedTopic } from './topic-preparation.js';

/**
 * Watches what somebody sets at the topic while it is in use. Nodes that run go on, and may lose records; nodes that
 * start are refused. Logs once when a mistake is found, again when it is another one, and once when there is none.
 */
export class SettingsWatch {
  readonly #kafkajs: Kafkajs;
  readonly #topic: Pick<WantedTopic, 'topic' | 'keepsForever'>;
  readonly #log: TopicLog;
  #mistake: string | null = null;

  constructor(kafkajs: Kafkajs, topic: Pick<WantedTopic, 'topic' | 'keepsForever'>, log: TopicLog) {
    this.#kafkajs = kafkajs;
    this.#topic = topic;
    this.#log = log;
  }

  /** Names every mistake, and the command that corrects them; null = there was none when Kafka was last asked. */
  get mistake(): string | null {
    return this.#mistake;
  }

  /** @param partitions how many this node works with since it opened the topic */
  async look(link: BrokerLink, partitions: number): Promise<void> {
    const mistake = await mistakeIn(this.#kafkajs, link, this.#topic, partitions);
    if (mistake === this.#mistake) return;
    this.#mistake = mistake;
    const { topic } = this.#topic;
    if (mistake === null) this.#log('info', 'Kafka topic has the settings again that nodes need', { topic });
    else this.#log('warn', `Kafka topic is not set up as nodes need it: ${mistake}`, { topic });
  }
}
