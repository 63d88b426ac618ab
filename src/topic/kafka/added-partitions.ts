import type { TopicLog } from '../remote/topic-log.js';

/**
 * Counts the partitions that somebody has added to the topic while it is in use. Running nodes do not read them; a node
 * that starts counts them and is refused.
 */
export class AddedPartitions {
  readonly #topic: string;
  readonly #log: TopicLog;
  #found = 0;

  constructor(topic: string, log: TopicLog) {
    this.#topic = topic;
    this.#log = log;
  }

  /** How many partitions the topic had when Kafka was last asked. */
  get found(): number {
    return this.#found;
  }

  /** @param inUse how many partitions this node has worked with since it opened the topic */
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
