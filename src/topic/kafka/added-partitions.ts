import type { TopicLog } from '../remote/topic-log.js';

/**
 * Partitions that were added to a topic in use: running nodes do not read them, and a node that starts counts them and
 * is refused.
 */
export class AddedPartitions {
  readonly #topic: string;
  readonly #log: TopicLog;
  #found = 0;

  constructor(topic: string, log: TopicLog) {
    this.#topic = topic;
    this.#log = log;
  }

  /** The number of partitions when Kafka was asked last. */
  get found(): number {
    return this.#found;
  }

  /** @param inUse partitions that this node has worked with since it opened the topic */
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
