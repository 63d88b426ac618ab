import type { OwnRequest } from './broker-link.js';
import { FlexibleReader, FlexibleWriter } from './flexible-wire.js';
import type { MetadataAnswer } from './topic-metadata.js';

/** Version of Kafka 2.8 (2021), with topic ids. */
export const METADATA_WITH_ID_VERSION = 10;

const ID_BYTES = 16;
const NO_ID = Buffer.alloc(ID_BYTES);
const FALSE = 0;
const TRUE = 1;
/** Rights in an answer to nobody's request for them. */
const RIGHTS_NOT_ASKED = -(2 ** 31);

/** Requests metadata. @param withRights also the rights on the topic */
export function metadataWithId(topic: string, { withRights = false } = {}): OwnRequest<MetadataAnswer> {
  return {
    api: 'Metadata',
    apiVersion: METADATA_WITH_ID_VERSION,
    body: encodeMetadataRequest(topic, withRights),
    decode: decodeMetadata,
  };
}

export function encodeMetadataRequest(topic: string, withRights = false): Buffer {
  const writer = new FlexibleWriter(64 + topic.length).noTags();
  // Versions 10 and 11 find a topic by name alone.
  writer.array([topic], (name) => writer.raw(NO_ID).text(name).noTags());
  // Creates no topic, and requests no rights on the cluster.
  return writer
    .int8(FALSE)
    .int8(FALSE)
    .int8(withRights ? TRUE : FALSE)
    .noTags().written;
}

export function decodeMetadata(payload: Buffer): MetadataAnswer {
  const reader = new FlexibleReader(payload);
  reader.tags();
  reader.int32(); // throttle time
  const brokers = reader.array(() => {
    const broker = { nodeId: reader.int32(), host: reader.text() ?? '', port: reader.int32() };
    reader.text(); // rack
    reader.tags();
    return broker;
  });
  reader.text(); // cluster
  const controllerId = reader.int32();
  const topicMetadata = reader.array(() => decodeTopic(reader));
  return { brokers, controllerId, topicMetadata };
}

function decodeTopic(reader: FlexibleReader): MetadataAnswer['topicMetadata'][number] {
  const topicErrorCode = reader.int16();
  const topic = reader.text() ?? '';
  const id = reader.raw(ID_BYTES);
  reader.int8(); // whether it is Kafka's own
  const partitionMetadata = reader.array(() => decodePartition(reader));
  const rights = reader.int32();
  reader.tags();
  // Copied, because a view would keep the whole answer in memory.
  const topicId = id.equals(NO_ID) ? null : Buffer.from(id);
  return { topicErrorCode, topic, topicId, partitionMetadata, rights: rights === RIGHTS_NOT_ASKED ? null : rights };
}

function decodePartition(reader: FlexibleReader) {
  const partitionErrorCode = reader.int16();
  const partitionId = reader.int32();
  const leader = reader.int32();
  const leaderEpoch = reader.int32();
  const replicas = reader.array(() => reader.int32());
  // Two more lists of replicas: those in sync, those offline.
  for (let list = 0; list < 2; list++) reader.array(() => reader.int32());
  reader.tags();
  return { partitionErrorCode, partitionId, leader, leaderEpoch, replicas };
}
