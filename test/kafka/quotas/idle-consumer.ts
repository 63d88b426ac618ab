import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { createTopic, untilAllKnow } from '../admin.js';

/** So long a fetch waits for something to read, as the client asks. */
const FETCH_WAIT_MS = 500;

/** A consumer of a topic in which there is nothing to read. */
export class IdleConsumer {
  readonly #consumer;
  #fetches = 0;

  private constructor(brokers: readonly string[], clientId: string) {
    const kafka = new Kafka({ clientId, brokers: [...brokers], logLevel: logLevel.NOTHING });
    this.#consumer = kafka.consumer({ groupId: clientId, maxWaitTimeInMs: FETCH_WAIT_MS });
    this.#consumer.on('consumer.network.request', ({ payload }) => {
      if (payload.apiName === 'Fetch') this.#fetches++;
    });
  }

  static async start(brokers: readonly string[], clientId: string): Promise<IdleConsumer> {
    const idle = new IdleConsumer(brokers, clientId);
    const topic = `nothing-for-${clientId}`;
    await createTopic(brokers, topic, {}, { replicaAssignment: [{ partition: 0, replicas: [1] }] });
    await untilAllKnow(brokers, topic);
    const consumer = idle.#consumer;
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    const joined = new Promise((resolve) => {
      consumer.on('consumer.group_join', resolve);
    });
    await consumer.run({ eachMessage: async () => {} });
    await joined;
    return idle;
  }

  stop(): Promise<void> {
    return this.#consumer.disconnect();
  }

  /** Fetches per second over the next seconds. */
  async fetchesOver(seconds: number): Promise<number> {
    const before = this.#fetches;
    await sleep(1000 * seconds);
    return (this.#fetches - before) / seconds;
  }
}
