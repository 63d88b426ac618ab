import { FlexibleWriter } from '../../src/topic/kafka/flexible-wire.js';

const [LIST_OFFSETS, METADATA, VERSIONS] = [2, 3, 18];
const TOPIC_ID = Buffer.alloc(16, 7);

/** Asks for what comes behind the beginning of that topic. */
export const FETCH = {
  topicId: TOPIC_ID,
  maxWaitMs: 0,
  minBytes: 1,
  maxBytes: 1 << 19,
  partitionMaxBytes: 1 << 18,
  partitions: [{ partition: 0, offset: 0, leaderEpoch: -1, lastReadEpoch: -1 }],
};

/** What an honest Kafka with an empty topic answers, with its length in front. */
export function answerTo(apiKey: number, apiVersion: number, correlationId: number, throttleMs = 0): Buffer {
  const writer = new FlexibleWriter(256).int32(0).int32(correlationId);
  if (apiKey === VERSIONS) versions(writer, apiVersion);
  else if (apiKey === METADATA) metadata(writer);
  else if (apiKey === LIST_OFFSETS) offsets(writer);
  else fetched(writer, throttleMs);
  const bytes = Buffer.from(writer.written);
  bytes.writeInt32BE(bytes.length - 4);
  return bytes;
}

/** Answers a fetch with these bytes as record batches of partition 0. */
export function fetchedAnswer(correlationId: number, bytes: Buffer, topicId: Buffer = TOPIC_ID): Buffer {
  const writer = new FlexibleWriter(256).int32(0).int32(correlationId);
  fetched(writer, 0, bytes, topicId);
  const answer = Buffer.from(writer.written);
  answer.writeInt32BE(answer.length - 4);
  return answer;
}

export interface BatchClaims {
  readonly firstOffset?: bigint;
  readonly lastOffsetDelta?: number;
  /** As the record batch says; absent: as many as there are. */
  readonly length?: number;
  readonly timeMs?: bigint;
  readonly count?: number;
  /** Zigzag numbers behind the record's length and attributes: time delta, offset delta, lengths of key and value. */
  readonly record?: readonly number[];
}

/** A record batch of one record without key and value, which may claim anything. */
export function recordBatch(claims: BatchClaims): Buffer {
  const { firstOffset = 0n, lastOffsetDelta = 0, length, timeMs = 1n, count = 1, record = [0, 0, 1, 1] } = claims;
  const bytes = Buffer.alloc(61 + 2 + record.length);
  bytes.writeBigInt64BE(firstOffset, 0);
  bytes.writeInt32BE(length ?? bytes.length - 12, 8);
  bytes.writeInt8(2, 16);
  bytes.writeInt32BE(lastOffsetDelta, 23);
  bytes.writeBigInt64BE(timeMs, 27);
  bytes.writeInt32BE(count, 57);
  bytes.set([2 * (1 + record.length), 0, ...record], 61);
  return bytes;
}

export const KAFKA_FETCHED = [{ partition: 0, errorCode: 0, highWatermark: 0, hasDiverged: false, recordBatches: [] }];

const int16 = (writer: FlexibleWriter, value: number) => writer.int8(value >> 8).int8(value & 0x7f);

function versions(writer: FlexibleWriter, apiVersion: number): void {
  int16(writer, 0);
  const served = [0, 1, LIST_OFFSETS, METADATA, 17, VERSIONS, 19, 32, 36];
  const newest = new Map([
    [1, 13],
    [METADATA, 10],
    [LIST_OFFSETS, 3],
  ]);
  writer.int32(served.length);
  for (const key of served) int16(int16(int16(writer, key), 0), newest.get(key) ?? 2);
  if (apiVersion > 0) writer.int32(0);
}

function metadata(writer: FlexibleWriter): void {
  writer.noTags().int32(0);
  writer.array([0], () => writer.int32(1).text('127.0.0.1').int32(9092).nullableText(null).noTags());
  writer.nullableText('cluster').int32(1);
  writer.array([0], () => {
    int16(writer, 0).text('t').raw(TOPIC_ID).int8(0);
    writer.array([0, 1], (partition) => {
      int16(writer, 0).int32(partition).int32(1).int32(3);
      for (let list = 0; list < 3; list++) writer.array([1], (id) => writer.int32(id));
      writer.noTags();
    });
    writer.int32(-(2 ** 31)).noTags();
  });
  writer.int32(-(2 ** 31)).noTags();
}

function fetched(
  writer: FlexibleWriter,
  throttleMs: number,
  bytes: Buffer = Buffer.alloc(0),
  topicId: Buffer = TOPIC_ID,
): void {
  writer.noTags().int32(throttleMs);
  int16(writer, 0).int32(0);
  writer.array([0], () => {
    writer.raw(topicId).array([0], (partition) => {
      int16(writer.int32(partition), 0).int64(0).int64(0).int64(0);
      writer
        .uvarint(0)
        .int32(-1)
        .uvarint(1 + bytes.length)
        .raw(bytes)
        .noTags();
    });
    writer.noTags();
  });
  writer.noTags();
}

function offsets(writer: FlexibleWriter): void {
  writer.int32(0).int32(1);
  int16(writer, 1).int8('t'.charCodeAt(0)).int32(1);
  int16(writer.int32(0), 0).int64(-1).int64(0);
}
