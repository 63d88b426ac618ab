import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { ratesOver } from './rates-over.js';

export interface LoadOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly topic: string;
  /** Bytes per second that each partition's producer wants; may be changed. */
  readonly wants: number[];
  readonly requestBytes?: number;
  /** Requests that a producer has under way at most. */
  readonly inFlight?: number;
}

const STEP_MS = 4;

/**
 * One client id with a producer per partition that sends what it wants, whether it gets it or not: what it cannot send
 * within a second is dropped.
 */
export class ProducerLoad {
  /** Acknowledged bytes by partition. */
  readonly got: number[];
  readonly wants: number[];
  readonly #options: LoadOptions;
  #isRunning = true;
  #loops: Promise<void>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.wants = options.wants;
    this.got = options.wants.map(() => 0);
  }

  async start(): Promise<void> {
    await Promise.all(this.wants.map((_, partition) => this.#startOne(partition)));
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#loops);
  }

  /** Bytes per second of each partition over the next seconds. */
  ratesOver(seconds: number): Promise<number[]> {
    return ratesOver(this.got, seconds);
  }

  async #startOne(partition: number): Promise<void> {
    const { brokers, clientId, topic, requestBytes = 5000, inFlight = 20 } = this.#options;
    const kafka = new Kafka({ clientId, brokers: [...brokers], logLevel: logLevel.NOTHING, requestTimeout: 120_000 });
    const producer = kafka.producer({ metadataMaxAge: 5000 });
    await producer.connect();
    const value = Buffer.alloc(requestBytes, 'x');
    const run = async () => {
      let credit = 0;
      let flying = 0;
      let lastMs = performance.now();
      while (this.#isRunning) {
        const nowMs = performance.now();
        const wanted = this.wants[partition];
        credit = Math.min(credit + ((nowMs - lastMs) / 1000) * wanted, Math.max(wanted, requestBytes));
        lastMs = nowMs;
        while (credit >= requestBytes && flying < inFlight) {
          credit -= requestBytes;
          flying++;
          producer.send({ topic, messages: [{ value, partition }] }).then(
            () => {
              this.got[partition] = this.got[partition] + requestBytes;
              flying--;
            },
            () => {
              flying--;
            },
          );
        }
        await sleep(STEP_MS);
      }
      await producer.disconnect();
    };
    this.#loops.push(run());
  }
}
