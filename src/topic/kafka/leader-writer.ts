import { saidNothingOf } from '../answers/malformed-answer.js';
import { CODEC_NUMBERS, type Compression } from '../codecs/codecs.js';
import type { Outbox, Parcel } from '../remote/outbox.js';
import { errorOf } from '../remote/topic-unusable.js';
import type { BrokerLink } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { refusalOf } from './missing-rights.js';
import { brokerError, isLeaderless, produceRefused, type TopicAccess } from './topic-failure.js';

export interface WriterSettings extends TopicAccess {
  readonly compression: Compression;
  readonly appendTimeoutMs: number;
}

/** Waits for all in-sync replicas: records are readable only then, and survive the loss of their leader. */
const ACKS_ALL = -1;

/**
 * Writes to one broker's partitions, one produce at a time. It takes all that waits. Two could overtake each other;
 * nothing is sent twice, because compaction would keep an old report behind a newer one. Not idempotent in Kafka's
 * sense: kafkajs never recovers from an out-of-order sequence, and compaction keeps empty batches for producer ids.
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

  /** Writes until `stopped`; rejects earlier only with the error that ended writing. */
  async run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const parcels = this.#outbox.take(this.#partitions);
      if (parcels.length === 0) await this.#outbox.nextPut(stopped);
      else await this.#produce(parcels);
    }
  }

  async #produce(parcels: readonly Parcel[]): Promise<void> {
    let codes: ReadonlyMap<number, number>;
    try {
      const { appendTimeoutMs: timeout, compression } = this.#settings;
      const request = {
        acks: ACKS_ALL,
        timeout,
        compression: CODEC_NUMBERS[compression],
        topicData: this.#topicData(parcels),
      };
      codes = codesOf(await this.#link.send<ProduceAnswer>('Produce', request, { holdBackMs: timeout }), parcels);
    } catch (error) {
      for (const parcel of parcels) parcel.settle(errorOf(error));
      throw error;
    }
    const answered = new Set(parcels.map(({ partition }) => codes.get(partition)!));
    const parcelsOf = (code: number) => parcels.filter(({ partition }) => codes.get(partition) === code);
    const errors = await Promise.all([...answered].map((code) => this.#settle(parcelsOf(code), code)));
    const moved = errors.find(isLeaderless);
    if (moved) throw moved;
  }

  /** Settles all parcels with one code: missing rights are asked for once. */
  async #settle(parcels: readonly Parcel[], errorCode: number): Promise<Error | null> {
    const error = errorCode === 0 ? null : brokerError(this.#kafkajs, errorCode);
    const refusal = error && (await refusalOf(error, this.#link, this.#settings, 'Write'));
    for (const parcel of parcels) {
      parcel.settle(error && (refusal ?? produceRefused(this.#settings.topic, error, parcel.bytes)));
    }
    return error;
  }

  #topicData(parcels: readonly Parcel[]) {
    const messages = new Map<number, { key: string; value: Buffer | null }[]>();
    for (const { partition, records } of parcels) {
      const recordBatch = messages.get(partition) ?? [];
      messages.set(partition, recordBatch);
      for (const { key, value } of records) {
        // A view: kafkajs takes only Buffers.
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

/** Reads the code of each partition; a missing one is no success. */
function codesOf({ topics }: ProduceAnswer, parcels: readonly Parcel[]): ReadonlyMap<number, number> {
  const found = topics.flatMap(({ partitions }) => partitions);
  const codes = new Map(found.map(({ partition, errorCode }) => [partition, errorCode]));
  for (const { partition } of parcels) if (!codes.has(partition)) throw saidNothingOf(`partition ${partition}`);
  return codes;
}
