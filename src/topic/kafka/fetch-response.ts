import type { ReadRecord } from '../../base/ports/report-topic.js';
import { TopicUnusable } from '../remote/topic-unusable.js';
import type { Decoder, Kafkajs } from './kafkajs-internals.js';
import { recordsOf } from './record-batch.js';

/** What one fetch has brought from one partition. */
export interface FetchedPartition {
  readonly partition: number;
  /** Code of Kafka's protocol; 0 = no error. */
  readonly errorCode: number;
  /** The offset after the last record that may be read. */
  readonly highWatermark: number;
  /**
   * True if this is not the log that was read before: the record in front of the asked offset is gone, or is another
   * one.
   */
  readonly hasDiverged: boolean;
  readonly recordBatches: readonly FetchedRecordBatch[];
}

export interface FetchedRecordBatch {
  readonly firstOffset: number;
  /**
   * The offset at which reading goes on. It also moves past a record batch that compaction or a transaction left empty.
   */
  readonly nextOffset: number;
  /** The epoch of the leader that wrote the record batch; −1 = not known. */
  readonly leaderEpoch: number;
  /** With offsets as Kafka counts them. */
  readonly records: readonly ReadRecord[];
  /**
   * Why the records cannot be read; null = they can be. No node can read such records, so all nodes still see the same
   * log.
   */
  readonly unreadable: string | null;
}

/** The version of fetches for brokers older than 3.1, which do not know fetch-13.ts. It came with Kafka 2.3 (2019). */
export const FETCH_VERSION = 11;

/**
 * Walks over the record batches of an answer. kafkajs's own decoder has three faults here: it drops the extent of an
 * empty record batch, and would ask for the same one for ever; a record batch in a foreign codec ends its reading for
 * good; and it passes all records of an answer as the arguments of one call.
 */
export function decodeFetch(kafkajs: Kafkajs, payload: Buffer): FetchedPartition[] {
  const decoder = new kafkajs.Decoder(payload);
  decoder.readInt32(); // throttle time: the broker has waited already
  const errorCode = decoder.readInt16();
  if (errorCode !== 0) throw kafkajs.createErrorFromCode(errorCode);
  decoder.readInt32(); // session
  const room = new DecodingRoom();
  const topics = decoder.readArray((topic) => {
    topic.readString();
    return topic.readArray((partition) => decodePartition(partition, room));
  });
  return topics.flat();
}

function decodePartition(decoder: Decoder, room: DecodingRoom): FetchedPartition {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const highWatermark = Number(decoder.readInt64());
  decoder.readInt64(); // last stable offset
  decoder.readInt64(); // log start offset
  decoder.readArray((aborted) => [aborted.readInt64(), aborted.readInt64()]);
  decoder.readInt32(); // preferred replica
  const recordBatches = decodeRecordBatches(decoder.readBytes() ?? Buffer.alloc(0), partition, room);
  return { partition, errorCode, highWatermark, hasDiverged: false, recordBatches };
}

// Layout of a record batch: offset 8, length 4, leader epoch 4, magic 1, CRC 4, attributes 2, last offset delta 4, …
const LENGTH_AT = 8;
const LEADER_EPOCH_AT = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
/** Offset and length themselves are not counted in the length. */
const UNCOUNTED_BYTES = 12;
const SHORTEST_RECORD_BATCH_BYTES = 17;
const CURRENT_MAGIC = 2;
const CONTROL_FLAG = 0x20;

/**
 * Bounds what the records of one answer take in memory, however far they inflate. Once it is full, what follows is left
 * as if the broker had cut it off: the next fetch begins there, and with another partition.
 */
export class DecodingRoom {
  #leftBytes = DECODED_BYTES_MAX;

  get isFull(): boolean {
    return this.#leftBytes <= 0;
  }

  take(records: readonly ReadRecord[]): void {
    for (const { key, value } of records) this.#leftBytes -= RECORD_BYTES + key.length + (value?.length ?? 0);
  }
}

/** A larger one catches up in fewer fetches where records are compressed well. */
const DECODED_BYTES_MAX = 8 * 1024 * 1024;
/** A record without its bytes: an object, a text and a view. */
const RECORD_BYTES = 200;

export function decodeRecordBatches(bytes: Buffer, partition: number, room: DecodingRoom): FetchedRecordBatch[] {
  const recordBatches: FetchedRecordBatch[] = [];
  let at = 0;
  while (bytes.length - at >= SHORTEST_RECORD_BATCH_BYTES && !room.isFull) {
    const length = UNCOUNTED_BYTES + bytes.readInt32BE(at + LENGTH_AT);
    if (length < SHORTEST_RECORD_BATCH_BYTES) throw new Error(`malformed record batch of ${length} bytes`);
    // The broker cuts the last record batch off at the size limit.
    if (bytes.length - at < length) break;
    const recordBatch = decodeRecordBatch(bytes.subarray(at, at + length), partition);
    room.take(recordBatch.records);
    recordBatches.push(recordBatch);
    at += length;
  }
  return recordBatches;
}

function decodeRecordBatch(bytes: Buffer, partition: number): FetchedRecordBatch {
  const firstOffset = Number(bytes.readBigInt64BE(0));
  const magic = bytes.readInt8(MAGIC_AT);
  if (magic !== CURRENT_MAGIC) {
    return {
      firstOffset,
      nextOffset: firstOffset + 1,
      leaderEpoch: -1,
      records: [],
      unreadable: `message format ${magic}`,
    };
  }
  const attributes = bytes.readInt16BE(ATTRIBUTES_AT);
  const nextOffset = firstOffset + bytes.readInt32BE(LAST_OFFSET_DELTA_AT) + 1;
  const leaderEpoch = bytes.readInt32BE(LEADER_EPOCH_AT);
  const recordBatch = { firstOffset, nextOffset, leaderEpoch, records: [], unreadable: null };
  // It holds marks of a transaction, and no records.
  if (attributes & CONTROL_FLAG) return recordBatch;
  try {
    return { ...recordBatch, records: recordsOf(bytes, partition) };
  } catch (error) {
    // What others can read is not skipped.
    if (error instanceof TopicUnusable) throw error;
    return { ...recordBatch, unreadable: `malformed: ${error instanceof Error ? error.message : String(error)}` };
  }
}
