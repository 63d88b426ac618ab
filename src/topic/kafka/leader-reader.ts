import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import { saidNothingOf } from '../answers/malformed-answer.js';
import { FetchPace } from '../remote/fetch-pace.js';
import type { TopicLog } from '../remote/topic-log.js';
import { TopicUnusable } from '../remote/topic-unusable.js';
import type { BrokerLink } from './broker-link.js';
import { FETCH_BY_ID_VERSION, fetchById } from './fetch-13.js';
import { decodeFetch, FETCH_VERSION, type FetchedPartition, type FetchedRecordBatch } from './fetch-response.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { refusalOf } from './missing-rights.js';
import type { PartitionCursor } from './partition-cursor.js';
import { brokerError, LogShortened, type TopicAccess } from './topic-failure.js';

export interface ReaderSettings extends TopicAccess {
  readonly fetchMaxWaitMs: number;
  readonly fetchMinBytes: number;
  readonly fetchIntervalMs: number;
}

export interface ReaderSink {
  /** Called when the broker has answered for this partition. */
  onReading(partition: number): void;
  onRecords(records: readonly ReadRecord[]): void;
  /** Called for a skipped record batch; its `unreadable` is the reason. */
  onUnreadable(partition: number, recordBatch: FetchedRecordBatch): void;
  onProgress(): void;
}

/** Bytes of a fetch: they bound decoding to some ms (below 2 µs per record batch). Catching up still reads 15 MB/s. */
const FETCH_BYTES_MAX = 512 * 1024;
const FETCH_PARTITION_BYTES_MAX = 256 * 1024;
/** Milliseconds between empty fetches answered at once: a core would spin. */
const EMPTY_FETCH_MS = 10;
const READ_UNCOMMITTED = 0;
const OFFSET_OUT_OF_RANGE = 1;
const EARLIEST = -2;
const END = -1;

/** Reads one broker's partitions, by one fetch at a time. The broker holds it back until there is news. */
export class LeaderReader {
  readonly #kafkajs: Kafkajs;
  readonly #link: BrokerLink;
  readonly #settings: ReaderSettings;
  /** Null = no topic id, or a broker without fetches by id. */
  #topicId: Buffer | null;
  readonly #sink: ReaderSink;
  readonly #log: TopicLog;
  readonly #pace: FetchPace;
  #cursors: readonly PartitionCursor[];
  /** 0 at first: the answer shows that reading works, and that an empty topic is read. */
  #maxWaitMs = 0;

  constructor(
    kafkajs: Kafkajs,
    link: BrokerLink,
    cursors: readonly PartitionCursor[],
    { topicId, ...settings }: ReaderSettings & { readonly topicId: Buffer | null },
    sink: ReaderSink,
    log: TopicLog,
  ) {
    this.#kafkajs = kafkajs;
    this.#link = link;
    this.#cursors = cursors;
    this.#settings = settings;
    this.#topicId = topicId;
    this.#sink = sink;
    this.#log = log;
    this.#pace = new FetchPace(settings.fetchIntervalMs);
  }

  /** Finds where to read, in partitions that have not begun. */
  async start(): Promise<void> {
    if (!this.#link.serves('Fetch', FETCH_BY_ID_VERSION)) this.#topicId = null;
    const { apiVersion } = this.#link.protocol('Fetch', { topics: [] }).request;
    if (apiVersion !== FETCH_VERSION) {
      throw new TopicUnusable('TOPIC_UNSUPPORTED', {
        topic: this.#settings.topic,
        reason: `the broker is older than Kafka 2.3 (it fetches with version ${apiVersion} of the protocol)`,
      });
    }
    await this.#locate(this.#cursors.filter((cursor) => cursor.nextOffset === null));
  }

  /** Reads for ever; rejects with the error that ended it, such as LogShortened. */
  async run(): Promise<never> {
    for (;;) {
      const askedMs = performance.now();
      const readBefore = this.#read;
      const fetched = await this.#fetch();
      this.#maxWaitMs = this.#settings.fetchMaxWaitMs;
      const refused: PartitionCursor[] = [];
      for (const partition of fetched) {
        const cursor = this.#cursors.find((each) => each.partition === partition.partition);
        if (!cursor) continue;
        if (partition.hasDiverged) throw new LogShortened(cursor.partition, cursor.leaderEpoch);
        if (partition.errorCode === OFFSET_OUT_OF_RANGE) refused.push(cursor);
        else if (partition.errorCode !== 0) throw await this.#failureOf(partition.errorCode);
        else this.#sink.onReading(cursor.partition);
      }
      for (const partition of fetched) this.#deliver(partition, fetched);
      await this.#locate(refused);
      this.#sink.onProgress();
      const waitMs = this.#hasReadAll(fetched) ? this.#pace.next(performance.now()) : 0;
      if (waitMs > 0) await sleep(waitMs);
      else if (this.#read === readBefore && performance.now() - askedMs < EMPTY_FETCH_MS) await sleep(EMPTY_FETCH_MS);
    }
  }

  async #failureOf(errorCode: number): Promise<Error> {
    const error = brokerError(this.#kafkajs, errorCode);
    return (await refusalOf(error, this.#link, this.#settings, 'Read')) ?? error;
  }

  /** Tests if every partition is read to its end; catching up fetches without a pause. */
  #hasReadAll(fetched: readonly FetchedPartition[]): boolean {
    return fetched.every(({ partition, highWatermark }) => {
      const nextOffset = this.#cursors.find((each) => each.partition === partition)?.nextOffset ?? null;
      return nextOffset !== null && nextOffset >= highWatermark;
    });
  }

  /** Sums up how far all partitions have been read. */
  get #read(): number {
    return this.#cursors.reduce((sum, { nextOffset }) => sum + (nextOffset ?? 0), 0);
  }

  async #fetch(): Promise<readonly FetchedPartition[]> {
    // The broker fills its answer from the first partition on, so they take turns.
    this.#cursors = [...this.#cursors.slice(1), ...this.#cursors.slice(0, 1)];
    return this.#topicId === null ? this.#fetchByName() : this.#fetchById(this.#topicId);
  }

  #fetchById(topicId: Buffer): Promise<readonly FetchedPartition[]> {
    const partitions = this.#cursors.map(({ partition, nextOffset, leaderEpoch, lastReadEpoch }) => {
      return { partition, offset: nextOffset ?? 0, leaderEpoch, lastReadEpoch };
    });
    const request = fetchById(this.#kafkajs, {
      topicId,
      maxWaitMs: this.#maxWaitMs,
      minBytes: this.#settings.fetchMinBytes,
      maxBytes: FETCH_BYTES_MAX,
      partitionMaxBytes: FETCH_PARTITION_BYTES_MAX,
      partitions,
    });
    return this.#link.exchange(request, this.#maxWaitMs);
  }

  #fetchByName(): Promise<readonly FetchedPartition[]> {
    const { topic, fetchMinBytes } = this.#settings;
    const partitions = this.#cursors.map((cursor) => ({
      partition: cursor.partition,
      currentLeaderEpoch: cursor.leaderEpoch,
      fetchOffset: String(cursor.nextOffset),
      maxBytes: FETCH_PARTITION_BYTES_MAX,
    }));
    const request = {
      maxWaitTime: this.#maxWaitMs,
      minBytes: fetchMinBytes,
      maxBytes: FETCH_BYTES_MAX,
      isolationLevel: READ_UNCOMMITTED,
      topics: [{ topic, partitions }],
    };
    return this.#link.send<FetchedPartition[]>('Fetch', request, {
      holdBackMs: this.#maxWaitMs,
      // kafkajs looks for a throttle time in the answer; undefined = none.
      decode: async (payload) => decodeFetch(this.#kafkajs, payload, topic),
    });
  }

  #deliver(partition: FetchedPartition, all: readonly FetchedPartition[]): void {
    const cursor = this.#cursors.find((each) => each.partition === partition.partition);
    if (!cursor || partition.errorCode !== 0) return;
    for (const recordBatch of partition.recordBatches) {
      const isNew = recordBatch.nextOffset > (cursor.nextOffset ?? 0);
      if (isNew && recordBatch.unreadable !== null) this.#sink.onUnreadable(cursor.partition, recordBatch);
    }
    const alone = all.every(({ recordBatches }) => recordBatches.length === 0);
    const records = cursor.accept(partition, alone);
    if (records.length > 0) this.#sink.onRecords(records);
  }

  async #locate(cursors: readonly PartitionCursor[]): Promise<void> {
    if (cursors.length === 0) return;
    const [earliest, end] = [await this.#listOffsets(cursors, EARLIEST), await this.#listOffsets(cursors, END)];
    for (const cursor of cursors) {
      const from = earliest.get(cursor.partition) ?? 0;
      const found = cursor.locate(from, end.get(cursor.partition) ?? from);
      if (found === 'shortened') throw new LogShortened(cursor.partition, cursor.leaderEpoch);
      if (found !== 'skipped') continue;
      this.#log('warn', 'offsets in the topic skipped: records were deleted', {
        topic: this.#settings.topic,
        partition: cursor.partition,
        offset: cursor.nextOffset,
      });
    }
  }

  async #listOffsets(cursors: readonly PartitionCursor[], timestamp: number): Promise<Map<number, number>> {
    const partitions = cursors.map(({ partition }) => ({ partition, timestamp }));
    const topics = [{ topic: this.#settings.topic, partitions }];
    const answer = await this.#link.send<OffsetsAnswer>('ListOffsets', { isolationLevel: READ_UNCOMMITTED, topics });
    const found = answer.responses.flatMap((response) => response.partitions);
    for (const { errorCode } of found) if (errorCode !== 0) throw brokerError(this.#kafkajs, errorCode);
    const offsets = new Map(found.map(({ partition, offset }) => [partition, Number(offset)]));
    for (const { partition } of cursors) if (!offsets.has(partition)) throw saidNothingOf(`partition ${partition}`);
    return offsets;
  }
}

interface OffsetsAnswer {
  readonly responses: readonly {
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number; readonly offset: string }[];
  }[];
}
