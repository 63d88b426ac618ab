import { CODEC_NUMBERS, type Compression } from '../codecs/codecs.js';
import type { Outbox, Parcel } from '../remote/outbox.js';
import type { BrokerLink } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { brokerError, isLeaderless, kafkaUnusable, produceRefused, type TopicAccess } from './topic-failure.js';

export interface WriterSettings extends TopicAccess {
  readonly compression: Compression;
  readonly appendTimeoutMs: number;
}

/**
 * All in-sync replicas acknowledge. A record can be read only when all of them have it, so a weaker acknowledgement
 * would come sooner but the record would not; and an acknowledged record survives the loss of its leader.
 */
const ACKS_ALL = -1;

/**
 * Writes to the partitions that one broker leads: one produce at a time, which takes everything that waits by then. Two
 * at once could overtake each other while they are compressed. What was sent is never sent again, because compaction
 * would keep an old report that comes after a newer one.
 *
 * Not idempotent in Kafka's sense: kafkajs never recovers from an out-of-order sequence, compaction keeps empty record
 * batches for the producer ids that it needs, and nothing is sent twice anyway.
 */
export class LeaderWriter {
  readonly #kafkajs: Kafkajs;
  readonly #link: BrokerLink;
  readonly #partitions: readonly number[];
  readonly #outbox: Outbox;
  readonly #settings: WriterSettings;

  constructor(
    kafkajs: Kafkajs,
    link: BrokerLink,
    partitions: readonly number[],
    outbox: Outbox,
    settings: WriterSettings,
  ) {
    this.#kafkajs = kafkajs;
    this.#link = link;
    this.#partitions = partitions;
    this.#outbox = outbox;
    this.#settings = settings;
  }

  /** Writes until `stopped`; rejects before that only with the error that made writing impossible. */
  async run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const parcels = this.#outbox.take(this.#partitions);
      if (parcels.length === 0) await this.#outbox.nextPut(stopped);
      else await this.#produce(parcels);
    }
  }

  async #produce(parcels: readonly Parcel[]): Promise<void> {
    let answer: ProduceAnswer;
    try {
      const { appendTimeoutMs: timeout, compression } = this.#settings;
      const request = {
        acks: ACKS_ALL,
        timeout,
        compression: CODEC_NUMBERS[compression],
        topicData: this.#topicData(parcels),
      };
      answer = await this.#link.send<ProduceAnswer>('Produce', request, { holdBackMs: timeout });
    } catch (error) {
      for (const parcel of parcels) parcel.settle(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    const codes = new Map(
      answer.topics.flatMap(({ partitions }) => partitions.map(({ partition, errorCode }) => [partition, errorCode])),
    );
    const errors = parcels.map((parcel) => this.#settle(parcel, codes.get(parcel.partition) ?? 0));
    const moved = errors.find(isLeaderless);
    if (moved) throw moved;
  }

  #settle(parcel: Parcel, errorCode: number): Error | null {
    const error = errorCode === 0 ? null : brokerError(this.#kafkajs, errorCode);
    parcel.settle(
      error &&
        (kafkaUnusable(error, this.#settings, 'Write') ?? produceRefused(this.#settings.topic, error, parcel.bytes)),
    );
    return error;
  }

  #topicData(parcels: readonly Parcel[]) {
    const messages = new Map<number, { key: string; value: Buffer | null }[]>();
    for (const { partition, records } of parcels) {
      const recordBatch = messages.get(partition) ?? [];
      messages.set(partition, recordBatch);
      for (const { key, value } of records) {
        // A view, not a copy: kafkajs takes only Buffers for bytes.
        recordBatch.push({ key, value: value && Buffer.from(value.buffer, value.byteOffset, value.byteLength) });
      }
    }
    const partitions = [...messages].map(([partition, recordBatch]) => ({
      partition,
      firstSequence: 0,
      messages: recordBatch,
    }));
    return [{ topic: this.#settings.topic, partitions }];
  }
}

interface ProduceAnswer {
  readonly topics: readonly {
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}
