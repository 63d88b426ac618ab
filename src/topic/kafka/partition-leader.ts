import { errorOf } from '../remote/topic-unusable.js';
import type { BrokerLink } from './broker-link.js';
import type { LeaderReader } from './leader-reader.js';
import type { LeaderWriter } from './leader-writer.js';

/** Reads and writes a broker's partitions, until the first failure. */
export class PartitionLeader {
  readonly partitions: readonly number[];
  readonly link: BrokerLink;
  readonly #reader: LeaderReader;
  readonly #writer: LeaderWriter;

  constructor(partitions: readonly number[], link: BrokerLink, reader: LeaderReader, writer: LeaderWriter) {
    this.partitions = partitions;
    this.link = link;
    this.#reader = reader;
    this.#writer = writer;
  }

  async start(): Promise<void> {
    await this.link.connect();
    await this.#reader.start();
  }

  /** Runs until one of them fails; resolves with that error, never rejects. */
  async run(): Promise<Error> {
    const stop = new AbortController();
    let failure: Error;
    try {
      await Promise.race([this.#reader.run(), this.#writer.run(stop.signal)]);
      failure = new Error('stopped');
    } catch (error) {
      failure = errorOf(error);
    }
    stop.abort();
    this.link.destroy(failure);
    return failure;
  }
}
