import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import { recordsOf } from '../../../src/topic/kafka/record-batch.js';
import { runs } from '../../property/seed.js';

const requireKafkajs = createRequire(import.meta.url);
const Decoder = requireKafkajs('kafkajs/src/protocol/decoder');
const { RecordBatch } = requireKafkajs('kafkajs/src/protocol/recordBatch/v0');
const Record = requireKafkajs('kafkajs/src/protocol/recordBatch/record/v0');
const decodeByKafkajs = requireKafkajs('kafkajs/src/protocol/recordBatch/v0/decoder');

const ATTRIBUTES_AT = 21;
const NEWEST_TIME_AT = 35;
const COUNT_AT = 57;
const RECORDS_AT = 61;
const LOG_APPEND_TIME = 0x08;

interface Written {
  readonly offsetDelta: number;
  readonly timestampDelta: number;
  readonly key: string | null;
  readonly value: Uint8Array | null;
  readonly headers?: { readonly [name: string]: string } | undefined;
}

async function batchOf(from: number, firstTimestamp: number, gzip: boolean, written: readonly Written[]) {
  const records = written.map(({ value, ...rest }) => Record({ ...rest, value: value && Buffer.from(value) }));
  const compression = gzip ? 1 : 0;
  const lastOffsetDelta = written.at(-1)?.offsetDelta ?? 0;
  const encoded = await RecordBatch({ compression, firstOffset: from, lastOffsetDelta, records, firstTimestamp });
  return Buffer.from(encoded.buffer);
}

/** The plain and slow twin. */
async function byKafkajs(bytes: Buffer, partition: number): Promise<ReadRecord[]> {
  const { records } = await decodeByKafkajs(new Decoder(bytes));
  return records.map(({ offset, timestamp, key, value }: { [field: string]: string | Buffer | null }) => ({
    partition,
    offset: Number(offset),
    appendMs: Number(timestamp),
    key: key === null ? '' : key.toString(),
    value: value === null ? null : new Uint8Array(value as Buffer),
  }));
}

function copied(records: readonly ReadRecord[]): ReadRecord[] {
  return records.map((record) => ({ ...record, value: record.value && new Uint8Array(record.value) }));
}

const written = fc.record({
  offsetDelta: fc.nat(2 ** 31 - 1),
  // kafkajs writes deltas of 53 bits, and before the first record too.
  timestampDelta: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
  key: fc.option(fc.string({ unit: 'grapheme', maxLength: 200 })),
  value: fc.option(fc.uint8Array({ maxLength: 300 })),
  headers: fc.constantFrom<Written['headers']>(undefined, { one: 'a', two: 'b' }),
});

describe('the records of a batch', () => {
  it('are those that kafkajs finds in it', async () => {
    const first = fc.nat(2 ** 45);
    await fc.assert(
      fc.asyncProperty(
        first,
        first,
        fc.boolean(),
        fc.boolean(),
        fc.uniqueArray(written, { selector: ({ offsetDelta }) => offsetDelta }),
        async (from, ms, gzip, log, unordered) => {
          const list = unordered.toSorted((one, other) => one.offsetDelta - other.offsetDelta);
          const bytes = await batchOf(from, ms, gzip, list);
          if (log) {
            bytes.writeInt16BE(bytes.readInt16BE(ATTRIBUTES_AT) | LOG_APPEND_TIME, ATTRIBUTES_AT);
            bytes.writeBigInt64BE(BigInt(ms + 17), NEWEST_TIME_AT);
          }
          expect(copied(recordsOf(bytes, 3))).toEqual(await byKafkajs(bytes, 3));
        },
      ),
      runs(200),
    );
  });

  it('are cut off nowhere: whatever is missing or wrong, it throws or stays within the batch', async () => {
    const bytes = await batchOf(5, 1000, false, [
      { offsetDelta: 0, timestampDelta: 0, key: 'key', value: Uint8Array.of(1, 2, 3) },
      { offsetDelta: 1, timestampDelta: 1, key: null, value: null },
    ]);
    for (let length = RECORDS_AT; length < bytes.length; length++) {
      expect(() => recordsOf(bytes.subarray(0, length), 0)).toThrow();
    }
    for (let at = COUNT_AT; at < bytes.length; at++) {
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
        const broken = Buffer.from(bytes);
        broken[at] = byte;
        try {
          for (const { value } of recordsOf(broken, 0)) expect((value?.length ?? 0) <= bytes.length).toBe(true);
        } catch (error) {
          expect((error as Error).message).toMatch(/^(a number|a record|-?\d+ bytes)/);
        }
      }
    }
  });

  it('are not unpacked to more than 16 MiB', async () => {
    const small = await batchOf(0, 0, true, [{ offsetDelta: 0, timestampDelta: 0, key: 'k', value: null }]);
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
    expect(() => recordsOf(Buffer.concat([small.subarray(0, RECORDS_AT), bomb]), 0)).toThrow(/larger than/);
  });
});
