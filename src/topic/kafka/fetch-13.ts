import type { OwnRequest } from './broker-link.js';
import { checkedEnd, DecodingRoom, decodeRecordBatches, type FetchedPartition } from './fetch-response.js';
import { FlexibleReader, FlexibleWriter } from './flexible-wire.js';
import type { Kafkajs } from './kafkajs-internals.js';

/** Version of Kafka 3.1 (2022). It names topics by id and reports lost records. */
export const FETCH_BY_ID_VERSION = 13;

export interface FetchByIdRequest {
  readonly topicId: Buffer;
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly partitionMaxBytes: number;
  readonly partitions: readonly AskedPartition[];
}

export interface AskedPartition {
  readonly partition: number;
  readonly offset: number;
  /** Leader epoch of the broker, from metadata, −1 = unknown; another leader refuses. */
  readonly leaderEpoch: number;
  /** Leader epoch of the record before `offset`, −1 = unknown; a log with another has diverged. */
  readonly lastReadEpoch: number;
}

const NO_REPLICA = -1;
const READ_UNCOMMITTED = 0;
const NO_SESSION = 0;
const NO_SESSION_EPOCH = -1;
const NOT_KNOWN = -1;
const BYTES_FIXED = 64;
const BYTES_PER_PARTITION = 40;
const DIVERGING_EPOCH_TAG = 0;

export function fetchById(kafkajs: Kafkajs, asked: FetchByIdRequest): OwnRequest<FetchedPartition[]> {
  return {
    api: 'Fetch',
    apiVersion: FETCH_BY_ID_VERSION,
    body: encodeFetchById(asked),
    decode: (payload) => decodeFetchById(kafkajs, payload, asked.topicId),
  };
}

export function encodeFetchById(asked: FetchByIdRequest): Buffer {
  const { topicId, maxWaitMs, minBytes, maxBytes, partitionMaxBytes, partitions } = asked;
  const writer = new FlexibleWriter(BYTES_FIXED + partitions.length * BYTES_PER_PARTITION);
  // kafkajs's header ends with the client id; the tags of the header follow here.
  writer.noTags();
  writer.int32(NO_REPLICA).int32(maxWaitMs).int32(minBytes).int32(maxBytes).int8(READ_UNCOMMITTED);
  writer.int32(NO_SESSION).int32(NO_SESSION_EPOCH);
  writer.array([topicId], (id) => {
    writer.raw(id).array(partitions, ({ partition, offset, leaderEpoch, lastReadEpoch }) => {
      writer.int32(partition).int32(leaderEpoch).int64(offset).int32(lastReadEpoch).int64(NOT_KNOWN);
      writer.int32(partitionMaxBytes).noTags();
    });
    writer.noTags();
  });
  // No topics to forget, and no rack.
  writer.array([], () => {}).text('');
  return writer.noTags().written;
}

export function decodeFetchById(kafkajs: Kafkajs, payload: Buffer, topicId: Buffer): FetchedPartition[] {
  const reader = new FlexibleReader(payload);
  reader.tags();
  reader.int32(); // throttle time: the broker has waited already
  const errorCode = reader.int16();
  if (errorCode !== 0) throw kafkajs.createErrorFromCode(errorCode);
  reader.int32(); // session
  const room = new DecodingRoom();
  const topics = reader.array(() => {
    if (!reader.raw(topicId.length).equals(topicId)) throw new Error('records of another topic');
    const partitions = reader.array(() => decodePartition(reader, room));
    reader.tags();
    return partitions;
  });
  reader.tags();
  return topics.flat();
}

function decodePartition(reader: FlexibleReader, room: DecodingRoom): FetchedPartition {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const highWatermark = checkedEnd(reader.int64(), partition, errorCode);
  reader.int64(); // last stable offset
  reader.int64(); // log start offset
  reader.array(() => {
    reader.raw(16); // an aborted transaction
    reader.tags();
  });
  reader.int32(); // preferred replica
  const bytes = reader.bytes() ?? Buffer.alloc(0);
  let hasDiverged = false;
  reader.tags((tag) => {
    if (tag === DIVERGING_EPOCH_TAG) hasDiverged = true;
  });
  return {
    partition,
    errorCode,
    highWatermark,
    hasDiverged,
    recordBatches: decodeRecordBatches(bytes, partition, room),
  };
}
