import type { TopicLog } from '../remote/topic-log.js';

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
