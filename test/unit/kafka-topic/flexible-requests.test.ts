import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { decodeFetchById, encodeFetchById } from '../../../src/topic/kafka/fetch-13.js';
import { FlexibleReader, FlexibleWriter } from '../../../src/topic/kafka/flexible-wire.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { decodeMetadata, encodeMetadataRequest } from '../../../src/topic/kafka/metadata-10.js';
import { missingAcls } from '../../../src/topic/kafka/needed-acls.js';

const requireKafkajs = createRequire(import.meta.url);
const { RecordBatch } = requireKafkajs('kafkajs/src/protocol/recordBatch/v0');
const Record = requireKafkajs('kafkajs/src/protocol/recordBatch/record/v0');
const kafkajs = loadKafkajs();

const ID = '000102030405060708090a0b0c0d0e0f';
const TOPIC_ID = Buffer.from(ID, 'hex');
const LEADER_EPOCH_AT = 12;

/** Bytes by hand, as kafka.apache.org/protocol has them; blanks and what is in brackets mean nothing. */
function bytes(text: string): Buffer {
  return Buffer.from(text.replace(/\[[^\]]*\]/g, '').replace(/\s/g, ''), 'hex');
}

describe('a fetch by id (version 13)', () => {
  it('has the bytes of the protocol', () => {
    const request = encodeFetchById({
      topicId: TOPIC_ID,
      maxWaitMs: 250,
      minBytes: 1,
      maxBytes: 0x80000,
      partitionMaxBytes: 0x40000,
      partitions: [{ partition: 2, offset: 300, leaderEpoch: 7, lastReadEpoch: 6 }],
    });
    expect(request.toString('hex')).toBe(
      bytes(`00 [tags of the header]
        ffffffff [replica] 000000fa [wait] 00000001 00080000 00 [isolation] 00000000 ffffffff [no session]
        02 [one topic] ${ID} 02 [one partition]
        00000002 00000007 [leader epoch] 000000000000012c [offset] 00000006 [last fetched epoch]
        ffffffffffffffff [log start] 00040000 00 [tags] 00 [tags]
        01 [nothing forgotten] 01 [rack] 00 [tags]`).toString('hex'),
    );
  });

  /** One partition of an answer; `tags` as bytes. */
  async function answer({ errorCode = '0000', tags = '00' }: { errorCode?: string; tags?: string } = {}) {
    const records = [Record({ offsetDelta: 0, key: 'k', value: Buffer.from('v') })];
    const encoded = await RecordBatch({
      compression: 0,
      firstOffset: 300,
      lastOffsetDelta: 0,
      records,
      firstTimestamp: 5,
    });
    const batch = Buffer.from(encoded.buffer);
    batch.writeInt32BE(6, LEADER_EPOCH_AT);
    const length = new FlexibleWriter(5).uvarint(batch.length + 1).written;
    return Buffer.concat([
      bytes(`00 [tags] 00000000 [throttled] 0000 [error] 00000000 [session] 02 ${ID} 02 00000002 ${errorCode}
        000000000000012d [high watermark] 000000000000012d 0000000000000000 [log start]
        02 0000000000000001 0000000000000002 00 [an aborted transaction] ffffffff [replica]`),
      length,
      batch,
      bytes(`${tags} [of the partition] 00 [of the topic] 00`),
    ]);
  }

  it('brings records, with the epoch of the leader that took them', async () => {
    const [partition] = decodeFetchById(kafkajs, await answer(), bytes(ID));
    expect(partition).toMatchObject({ partition: 2, errorCode: 0, highWatermark: 301, hasDiverged: false });
    expect(partition?.recordBatches).toMatchObject([{ firstOffset: 300, nextOffset: 301, leaderEpoch: 6 }]);
    expect(partition?.recordBatches[0]?.records).toMatchObject([{ offset: 300, key: 'k' }]);
  });

  it('tells that the log has diverged from what was read, among tags that mean nothing here', async () => {
    const leader = '01 09 00000001 00000008 00';
    const [same] = decodeFetchById(kafkajs, await answer({ tags: `01 ${leader}` }), bytes(ID));
    expect(same?.hasDiverged).toBe(false);
    const diverging = '00 0d 00000005 00000000000000c8 00';
    const [other] = decodeFetchById(kafkajs, await answer({ tags: `02 ${diverging} ${leader}` }), bytes(ID));
    expect(other?.hasDiverged).toBe(true);
  });

  it('tells the error of a partition, throws that of the whole, and what ends too early', async () => {
    expect(decodeFetchById(kafkajs, await answer({ errorCode: '0064' }), bytes(ID))[0]?.errorCode).toBe(100);
    expect(() => decodeFetchById(kafkajs, bytes('00 00000000 0021 00000000 01 00'), bytes(ID))).toThrow();
    const whole = await answer();
    for (let end = 0; end < whole.length; end++) {
      expect(() => decodeFetchById(kafkajs, whole.subarray(0, end), bytes(ID))).toThrow();
    }
  });
});

describe('metadata with ids (version 10)', () => {
  it('is asked for by name, in the bytes of the protocol', () => {
    expect(encodeMetadataRequest('reports').toString('hex')).toBe(
      bytes(
        `00 02 00000000000000000000000000000000 08 ${Buffer.from('reports').toString('hex')} 00 00 00 00 00`,
      ).toString('hex'),
    );
  });

  const metadata = (id: string) =>
    bytes(`00 00000000 [throttled] 03
      00000001 02 61 [a] 00002384 00 [no rack] 00
      00000002 02 62 [b] 00002385 02 72 [rack r] 01 03 02 ffff [a tag]
      05 7a7a7a7a [cluster] 00000002 [controller]
      02 0000 08 7265706f727473 ${id} 00 [internal] 02
      0000 00000000 [partition] 00000001 [leader] 00000007 [its epoch] 03 00000001 00000002 02 00000001 01 00
      80000000 [rights] 00 80000000 00`);

  it('tells the id of a topic and since when its leaders lead', () => {
    expect(decodeMetadata(metadata(ID))).toEqual({
      brokers: [
        { nodeId: 1, host: 'a', port: 9092 },
        { nodeId: 2, host: 'b', port: 9093 },
      ],
      controllerId: 2,
      topicMetadata: [
        {
          topicErrorCode: 0,
          topic: 'reports',
          topicId: TOPIC_ID,
          partitionMetadata: [{ partitionErrorCode: 0, partitionId: 0, leader: 1, leaderEpoch: 7, replicas: [1, 2] }],
          rights: null,
        },
      ],
    });
  });

  it('tells what one may do with the topic, where that was asked for', () => {
    const asked = encodeMetadataRequest('reports', true).toString('hex');
    expect(asked).toBe(encodeMetadataRequest('reports').toString('hex').replace(/0000$/, '0100'));
    const rights = metadata(ID).toString('hex').replace('800000000080000000', '000001080080000000');
    expect(decodeMetadata(Buffer.from(rights, 'hex')).topicMetadata[0]?.rights).toBe(0x108);
    expect(missingAcls(0x108).map(({ operation }) => operation)).toEqual(['Write', 'DescribeConfigs']);
  });

  it('knows a topic without an id', () => {
    expect(decodeMetadata(metadata('00'.repeat(16))).topicMetadata[0]?.topicId).toBeNull();
  });
});

describe('varints', () => {
  it.each([0, 1, 127, 128, 300, 16_383, 16_384, 2 ** 28, 2 ** 31 - 1])('%i is read as it was written', (value) => {
    expect(new FlexibleReader(new FlexibleWriter(1).uvarint(value).written).uvarint()).toBe(value);
  });

  it('longer than any length are refused', () => {
    expect(() => new FlexibleReader(bytes('ffffffffffff01')).uvarint()).toThrow(RangeError);
  });
});
