import type { ReadRecord } from '../../base/ports/report-topic.js';

/** Only partition. */
export const PARTITION = 0;

const NEWLINE = 10;
const HEADER = /^(\d{1,16}) ([01])$/;
const OFFSET = /^\d{1,16}$/;

/** Reads an entry of the stream; null = not ours (scripts.ts has the format). */
export function readStreamEntry(id: Buffer, fields: readonly Buffer[]): ReadRecord | null {
  const [offset, sequence] = id.toString('latin1').split('-');
  const [keyName, key, recordName, record] = fields;
  if (sequence !== '0' || fields.length !== 4 || String(keyName) !== 'k' || String(recordName) !== 'r') return null;
  return recordAt(Number(offset), key, record);
}

/** Reads a field of the hash of newest records; null = not ours. */
export function readNewest(key: Buffer, value: Buffer): ReadRecord | null {
  const end = value.indexOf(NEWLINE);
  const offset = value.toString('latin1', 0, Math.max(0, end));
  if (!OFFSET.test(offset)) return null;
  const record = recordAt(Number(offset), key, value.subarray(end + 1));
  return record === null || record.value === null ? null : record;
}

/** Writes such a field without its offset; '' = a tombstone. */
export function restorable({ appendMs, value }: ReadRecord): Buffer {
  return value === null ? Buffer.alloc(0) : Buffer.concat([Buffer.from(`${appendMs} 1\n`), value]);
}

function recordAt(offset: number, key: Buffer, record: Buffer): ReadRecord | null {
  const end = record.indexOf(NEWLINE);
  const header = HEADER.exec(record.toString('latin1', 0, Math.max(0, end)));
  if (header === null || !Number.isSafeInteger(offset)) return null;
  const isTombstone = header[2] === '0';
  return {
    partition: PARTITION,
    offset,
    appendMs: Number(header[1]),
    key: key.toString('utf8'),
    // A copy: a view would keep the whole answer in memory.
    value: isTombstone ? null : new Uint8Array(record.subarray(end + 1)),
  };
}
