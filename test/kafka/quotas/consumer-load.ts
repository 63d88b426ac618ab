import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { ratesOver } from './rates-over.js';

export interface ConsumerLoadOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** One partition each, with records in it; read again and again. */
  readonly topics: readonly string[];
  /** Bytes per second of each; may be changed. */
  readonly wants: number[];
  /** An answer has at most so much, but one batch in any case. A batch that does not fit is cut off, and was sent in vain. */
  readonly fetchBytes: number;
}

const STEP_MS = 4;

/** One client id with a consumer per topic that reads what it wants, and no more. */
export class ConsumerLoad {
  readonly got: number[];
  readonly wants: number[];
  readonly #options: ConsumerLoadOptions;
  readonly #consumers: { disconnect(): Promise<void> }[] = [];
  #isRunning = true;

  constructor(options: ConsumerLoadOptions) {
    this.#options = options;
    this.wants = options.wants;
    this.got = options.wants.map(() => 0);
  }

  async start(): Promise<void> {
    await Promise.all(this.#options.topics.map((topic, at) => this.#startOne(topic, at)));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#consumers.map((consumer) => consumer.disconnect()));
  }

  /** Bytes per second of each topic over the next seconds. */
  ratesOver(seconds: number): Promise<number[]> {
    return ratesOver(this.got, seconds);
  }

  async #startOne(topic: string, at: number): Promise<void> {
    const { brokers, clientId, fetchBytes } = this.#options;
    const kafka = new Kafka({ clientId, brokers: [...brokers], logLevel: logLevel.NOTHING, requestTimeout: 120_000 });
    const limits = { maxBytes: fetchBytes, maxBytesPerPartition: fetchBytes };
    const groupId = `${clientId}-${topic}`;
    const consumer = kafka.consumer({ groupId, ...limits, maxWaitTimeInMs: 100, sessionTimeout: 60_000 });
    this.#consumers.push(consumer);
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    let beganMs = 0;
    let read = 0;
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch, heartbeat }) => {
        const bytes = batch.messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
        this.got[at] = this.got[at] + bytes;
        const nowMs = performance.now();
        // What it could not read for more than a second, it does not want any more.
        if (nowMs - beganMs > 1000 + (1000 * read) / this.wants[at]) [beganMs, read] = [nowMs, 0];
        read += bytes;
        if (Number(batch.highWatermark) - Number(batch.lastOffset()) < 2) {
          consumer.seek({ topic, partition: 0, offset: '0' });
        }
        while (this.#isRunning && performance.now() - beganMs < (1000 * read) / this.wants[at]) {
          await sleep(STEP_MS);
        }
        await heartbeat();
      },
    });
  }
}
