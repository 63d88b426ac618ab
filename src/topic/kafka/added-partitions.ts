import type { TopicLog } from '../remote/topic-log.js';

/** Partitions that a topic in use has got later: they are not read, and whoever starts counts them and is refused. */
export class AddedPartitions {
  readonly #topic: string;
  readonly #log: TopicLog;
  #found = 0;

  constructor(topic: string, log: TopicLog) {
    this.#topic = topic;
    this.#log = log;
  }

  /** In Kafka, as it was asked last. */
  get found(): number {
    return this.#found;
  }

  /** @param inUse that this node works with since it has opened the topic */
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
