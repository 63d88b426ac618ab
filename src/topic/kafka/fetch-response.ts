import type { ReadRecord } from '../../base/ports/report-topic.js';
import { TopicUnusable } from '../remote/topic-unusable.js';
import type { Decoder, Kafkajs } from './kafkajs-internals.js';
import { recordsOf } from './record-batch.js';

/** Result of a fetch for one partition. */
export interface FetchedPartition {
  readonly partition: number;
  /** Code of Kafka's protocol; 0 = no error. */
  readonly errorCode: number;
  /** Offset after the last readable record. */
  readonly highWatermark: number;
  /** True = the log is another one: the record before the offset is gone or different. */
  readonly hasDiverged: boolean;
  readonly recordBatches: readonly FetchedRecordBatch[];
}

export interface FetchedRecordBatch {
  readonly firstOffset: number;
  /** Offset to read next, behind empty record batches, too. */
  readonly nextOffset: number;
  /** Leader epoch of the record batch; −1 = unknown. */
  readonly leaderEpoch: number;
  /** Records with Kafka's own offsets. */
  readonly records: readonly ReadRecord[];
  /** Reason why nobody can read the records: all see the same log. Null = readable. */
  readonly unreadable: string | null;
}

/** Version for brokers before 3.1, which lack fetch-13.ts; of Kafka 2.3 (2019). */
export const FETCH_VERSION = 11;

/**
 * Decodes a fetch's record batches. *Why not kafkajs:* it drops an empty batch's extent and fetches it for ever, ends
 * at a foreign codec, and passes all records as arguments of one call.
 */
export function decodeFetch(kafkajs: Kafkajs, payload: Buffer, name: string): FetchedPartition[] {
  const decoder = new kafkajs.Decoder(payload);
  decoder.readInt32(); // throttle time: the broker has waited already
  const errorCode = decoder.readInt16();
  if (errorCode !== 0) throw kafkajs.createErrorFromCode(errorCode);
  decoder.readInt32(); // session
  const room = new DecodingRoom();
  const topics = decoder.readArray((topic) => {
    if (topic.readString() !== name) throw new Error('records of another topic');
    return topic.readArray((partition) => decodePartition(partition, room));
  });
  return topics.flat();
}

function decodePartition(decoder: Decoder, room: DecodingRoom): FetchedPartition {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const highWatermark = checkedEnd(Number(decoder.readInt64()), partition, errorCode);
  decoder.readInt64(); // last stable offset
  decoder.readInt64(); // log start offset
  decoder.readArray((aborted) => [aborted.readInt64(), aborted.readInt64()]);
  decoder.readInt32(); // preferred replica
  const recordBatches = decodeRecordBatches(decoder.readBytes() ?? Buffer.alloc(0), partition, room);
  return { partition, errorCode, highWatermark, hasDiverged: false, recordBatches };
}

/** Refuses an end that is no offset. Beside an error it is −1; else a reader would seem to have read all. */
export function checkedEnd(highWatermark: number, partition: number, errorCode: number): number {
  if (errorCode !== 0 || (highWatermark >= 0 && Number.isSafeInteger(highWatermark))) return highWatermark;
  throw new Error(`the end ${highWatermark} of partition ${partition}`);
}

// Layout of a record batch: offset 8, length 4, leader epoch 4, magic 1, CRC 4, attributes 2, last offset delta 4, …
const LENGTH_AT = 8;
const LEADER_EPOCH_AT = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
/** Bytes of offset and length, which the length leaves out. */
const UNCOUNTED_BYTES = 12;
const SHORTEST_RECORD_BATCH_BYTES = 17;
const CURRENT_MAGIC = 2;
const CONTROL_FLAG = 0x20;

/**
 * Bounds the memory of one answer's inflated records. The rest is left as if cut off: the next fetch begins there, with
 * another partition first.
 */
export class DecodingRoom {
  #leftBytes = DECODED_BYTES_MAX;
  /** False until a record batch has come. */
  isUsed = false;

  get isFull(): boolean {
    return this.#leftBytes <= 0;
  }

  /** Counts an inflated record batch whole: its values are views of it, and headers stay with them. */
  inflated(bytes: number): void {
    this.#leftBytes -= bytes;
  }

  take(records: readonly ReadRecord[]): void {
    this.isUsed = true;
    for (const { key } of records) this.#leftBytes -= RECORD_BYTES + key.length;
  }
}

/** Most bytes; more catches up in fewer fetches where compression is strong. */
const DECODED_BYTES_MAX = 8 * 1024 * 1024;
/** Bytes of a record beside its content: an object, a text and a view. The answer, or an inflated batch, has that. */
const RECORD_BYTES = 200;

export function decodeRecordBatches(bytes: Buffer, partition: number, room: DecodingRoom): FetchedRecordBatch[] {
  const recordBatches: FetchedRecordBatch[] = [];
  let at = 0;
  while (bytes.length - at >= SHORTEST_RECORD_BATCH_BYTES && !room.isFull) {
    const length = UNCOUNTED_BYTES + bytes.readInt32BE(at + LENGTH_AT);
    if (length < SHORTEST_RECORD_BATCH_BYTES) throw new Error(`malformed record batch of ${length} bytes`);
    // The broker cuts the last record batch off at the size limit, but never the first of an answer.
    if (bytes.length - at < length && room.isUsed) break;
    if (bytes.length - at < length) throw new Error(`a record batch of ${length} bytes, ${bytes.length - at} came`);
    const recordBatch = decodeRecordBatch(bytes.subarray(at, at + length), partition, room);
    room.take(recordBatch.records);
    recordBatches.push(recordBatch);
    at += length;
  }
  return recordBatches;
}

function decodeRecordBatch(bytes: Buffer, partition: number, room: DecodingRoom): FetchedRecordBatch {
  const firstOffset = Number(bytes.readBigInt64BE(0));
  const magic = bytes.readInt8(MAGIC_AT);
  const isCurrent = magic === CURRENT_MAGIC;
  const nextOffset = firstOffset + (isCurrent ? bytes.readInt32BE(LAST_OFFSET_DELTA_AT) : 0) + 1;
  if (!(firstOffset >= 0 && nextOffset > firstOffset && Number.isSafeInteger(nextOffset))) {
    throw new Error(`a record batch from ${firstOffset} to ${nextOffset - 1}`);
  }
  if (!isCurrent) {
    return { firstOffset, nextOffset, leaderEpoch: -1, records: [], unreadable: `message format ${magic}` };
  }
  const attributes = bytes.readInt16BE(ATTRIBUTES_AT);
  const leaderEpoch = bytes.readInt32BE(LEADER_EPOCH_AT);
  const recordBatch = { firstOffset, nextOffset, leaderEpoch, records: [], unreadable: null };
  // A control batch marks transactions, and has no records.
  if (attributes & CONTROL_FLAG) return recordBatch;
  try {
    return { ...recordBatch, records: recordsOf(bytes, partition, (inflatedBytes) => room.inflated(inflatedBytes)) };
  } catch (error) {
    // Records that others can read are never skipped.
    if (error instanceof TopicUnusable) throw error;
    return { ...recordBatch, unreadable: `malformed: ${error instanceof Error ? error.message : String(error)}` };
  }
}
