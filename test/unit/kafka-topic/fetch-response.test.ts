import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { decodeFetch, type FetchedPartition } from '../../../src/topic/kafka/fetch-response.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';

const requireKafkajs = createRequire(import.meta.url);
const Encoder = requireKafkajs('kafkajs/src/protocol/encoder');
const { RecordBatch } = requireKafkajs('kafkajs/src/protocol/recordBatch/v0');
const Record = requireKafkajs('kafkajs/src/protocol/recordBatch/record/v0');
const kafkajs = loadKafkajs();

const ATTRIBUTES_AT = 21;
const MAGIC_AT = 16;

interface BatchOptions {
  readonly from: number;
  readonly values: readonly string[];
  readonly gzip?: boolean;
  readonly attributes?: number;
  readonly magic?: number;
  readonly headerBytes?: number;
}

/** As kafkajs's producer makes it, then as a broker would have stamped it. */
async function batch({ from, values, gzip = false, attributes, magic, headerBytes }: BatchOptions): Promise<Buffer> {
  const headers = headerBytes === undefined ? {} : { padding: Buffer.alloc(headerBytes) };
  const records = values.map((value, i) => {
    return Record({ offsetDelta: i, key: `key-${i}`, value: Buffer.from(value), headers });
  });
  const compression = gzip ? 1 : 0;
  const lastOffsetDelta = values.length - 1;
  const encoded = await RecordBatch({ compression, firstOffset: from, lastOffsetDelta, records, firstTimestamp: 5 });
  const bytes = Buffer.from(encoded.buffer);
  if (attributes !== undefined) bytes.writeInt16BE(attributes, ATTRIBUTES_AT);
  if (magic !== undefined) bytes.writeInt8(magic, MAGIC_AT);
  return bytes;
}

async function decode(...batches: Buffer[]): Promise<FetchedPartition> {
  return await answer({ batches });
}

async function answer({ batches = [] as Buffer[], end = 99, errorCode = 0 }): Promise<FetchedPartition> {
  const bytes = Buffer.concat(batches);
  const partition = new Encoder()
    .writeInt32(2) // partition
    .writeInt16(errorCode)
    .writeInt64(end) // high watermark
    .writeInt64(99)
    .writeInt64(0)
    .writeArray([])
    .writeInt32(-1)
    .writeBytes(bytes);
  const topic = new Encoder().writeString('topic').writeArray([partition]);
  const whole = new Encoder().writeInt32(0).writeInt16(0).writeInt32(0).writeArray([topic]);
  const [decoded] = await decodeFetch(kafkajs, whole.buffer, 'topic');
  return decoded;
}

function valuesOf({ recordBatches }: FetchedPartition): string[] {
  return recordBatches.flatMap(({ records }) => records.map(({ offset, value }) => `${offset} ${value}`));
}

describe('an answer to a fetch', () => {
  it('has an end that is an offset, unless it tells an error', async () => {
    for (const end of [-1, -5]) await expect(answer({ end })).rejects.toThrow(`the end ${end} of partition 2`);
    expect(await answer({ end: -1, errorCode: 6 })).toMatchObject({ highWatermark: -1, errorCode: 6 });
    expect(await answer({ end: 0 })).toMatchObject({ highWatermark: 0, recordBatches: [] });
  });

  it('begins at an offset, in an old format too', async () => {
    await expect(decode(await batch({ from: -5, values: ['a'], magic: 1 }))).rejects.toThrow('from -5 to -5');
  });

  it('holds the records of its batches, plain and gzipped', async () => {
    const decoded = await decode(
      await batch({ from: 10, values: ['a', 'b'] }),
      await batch({ from: 12, values: ['c'], gzip: true }),
    );
    expect(decoded).toMatchObject({ partition: 2, errorCode: 0, highWatermark: 99 });
    expect(valuesOf(decoded)).toEqual(['10 a', '11 b', '12 c']);
    expect(decoded.recordBatches.map(({ firstOffset, nextOffset }) => [firstOffset, nextOffset])).toEqual([
      [10, 12],
      [12, 13],
    ]);
  });

  it('ends before a batch that was cut off at the size limit', async () => {
    const cut = (await batch({ from: 11, values: ['b'] })).subarray(0, -1);
    expect(valuesOf(await decode(await batch({ from: 10, values: ['a'] }), cut))).toEqual(['10 a']);
    expect(valuesOf(await decode(cut.subarray(0, 10)))).toEqual([]);
  });

  it('ends where its inflated batches fill the room, though their records are small: views keep all of a batch', async () => {
    const bombs = Array.from({ length: 5 }, (_, i) => {
      return batch({ from: i, values: ['a'], gzip: true, headerBytes: 3 * 1024 * 1024 });
    });
    const decoded = await decode(...(await Promise.all(bombs)));
    expect(valuesOf(decoded)).toEqual(['0 a', '1 a', '2 a']);
  });

  it('takes more records at once than a call takes arguments', async () => {
    const values = Array.from({ length: 130_000 }, (_, i) => `${i}`);
    const decoded = await decode(await batch({ from: 0, values }));
    expect(decoded.recordBatches[0].records).toHaveLength(130_000);
  });

  it('knows how far a mark of a transaction reaches, without a record', async () => {
    const { recordBatches } = await decode(await batch({ from: 7, values: ['mark'], attributes: 0x30 }));
    expect(recordBatches).toEqual([{ firstOffset: 7, nextOffset: 8, leaderEpoch: 0, records: [], unreadable: null }]);
  });

  it.each([
    [2, /^malformed: /],
    [3, /^malformed: no frame of LZ4/],
    [7, /^malformed: compressed with codec 7$/],
  ])(
    'tells that it cannot read a batch that is not what codec %i writes, and reads what follows',
    async (attributes, reason) => {
      const foreign = await batch({ from: 5, values: ['x', 'y', 'z'], attributes });
      const decoded = await decode(foreign, await batch({ from: 8, values: ['a'] }));
      expect(decoded.recordBatches[0]).toMatchObject({ firstOffset: 5, nextOffset: 8, records: [] });
      expect(decoded.recordBatches[0].unreadable).toMatch(reason);
      expect(valuesOf(decoded)).toEqual(['8 a']);
    },
  );

  it('steps over formats before Kafka 0.11 and over records that make no sense', async () => {
    const old = await decode(await batch({ from: 5, values: ['x'], magic: 1 }));
    expect(old.recordBatches[0]).toMatchObject({ nextOffset: 6, unreadable: 'message format 1' });
    const broken = await batch({ from: 5, values: ['x'.repeat(50)] });
    broken.fill(0xff, 61);
    const { recordBatches } = await decode(broken, await batch({ from: 6, values: ['a'] }));
    expect(recordBatches[0].unreadable).toMatch(/^malformed: /);
    expect(recordBatches[1].records).toHaveLength(1);
  });
});
