import type { AppendRecord, ReadRecord } from '../../base/ports/report-topic.js';
import { invariant } from '../../core/base/invariant.js';

/**
 * Record in the log, little endian:
 *
 *     0  append time, double, ms      10  kind, 0 tombstone or 1 value
 *     8  length of the key, uint16    11  key in UTF-8, then the value
 */
const KEY_LENGTH_AT = 8;
const KIND_AT = 10;
const KEY_AT = 11;
const TOMBSTONE = 0;
const VALUE = 1;

/** Most bytes of a key: LMDB's limit with pages of 4 KiB is 1,978, less the table's byte and a reserve. */
const KEY_BYTES_MAX = 1900;

/** Only partition. */
const PARTITION = 0;

/** Encodes an entry; its append time is stamped at the commit. */
export function encodeEntry({ key, value }: AppendRecord): Buffer {
  const keyBytes = Buffer.byteLength(key);
  invariant(keyBytes > 0 && keyBytes <= KEY_BYTES_MAX, 'the key of a record has 1 … 1,900 bytes', { keyBytes });
  const entry = Buffer.alloc(KEY_AT + keyBytes + (value?.length ?? 0));
  entry.writeUInt16LE(keyBytes, KEY_LENGTH_AT);
  entry[KIND_AT] = value === null ? TOMBSTONE : VALUE;
  entry.write(key, KEY_AT);
  if (value !== null) entry.set(value, KEY_AT + keyBytes);
  return entry;
}

export function stampEntry(entry: Buffer, appendMs: number): void {
  entry.writeDoubleLE(appendMs, 0);
}

export function decodeEntry(offset: number, entry: Buffer): ReadRecord {
  const valueAt = KEY_AT + entry.readUInt16LE(KEY_LENGTH_AT);
  return {
    partition: PARTITION,
    offset,
    appendMs: entry.readDoubleLE(0),
    key: entry.toString('utf8', KEY_AT, valueAt),
    value: isTombstone(entry) ? null : entry.subarray(valueAt),
  };
}

export function keyOfEntry(entry: Buffer): Buffer {
  return entry.subarray(KEY_AT, KEY_AT + entry.readUInt16LE(KEY_LENGTH_AT));
}

export function appendMsOfEntry(entry: Buffer): number {
  return entry.readDoubleLE(0);
}

export function isTombstone(entry: Buffer): boolean {
  return entry[KIND_AT] === TOMBSTONE;
}

export function payloadBytes(entry: Buffer): number {
  return entry.length - KEY_AT;
}
