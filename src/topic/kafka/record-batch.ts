import type { ReadRecord } from '../../base/ports/report-topic.js';
import { codecOf } from '../codecs/codecs.js';

// Layout of a record batch: offset 8, length 4, leader epoch 4, magic 1, CRC 4, attributes 2, last offset delta 4,
// first time 8, newest time 8, producer 8 + 2, first sequence 4, number of records 4; then the records, compressed or
// not.
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
const FIRST_TIME_AT = 27;
const NEWEST_TIME_AT = 35;
const COUNT_AT = 57;
const RECORDS_AT = 61;
const CODEC_MASK = 0x07;
/** Most records; our writers send half a MiB of 30 bytes and more each. */
const RECORDS_MAX = 150_000;
const LOG_APPEND_TIME = 0x08;

/**
 * Decodes a record batch of format 2. Throws on nonsense, and TOPIC_CODEC_MISSING where it cannot be inflated. Values
 * are views of `bytes`. *Why not kafkajs:* it makes a decoder, a dozen fields and three 64-bit objects per record; it is
 * the slow twin of tests. @param bytes first to last byte of the record batch
 */
export function recordsOf(
  bytes: Buffer,
  partition: number,
  onInflated: (bytes: number) => void = () => {},
): ReadRecord[] {
  const attributes = bytes.readInt16BE(ATTRIBUTES_AT);
  const firstOffset = Number(bytes.readBigInt64BE(0));
  const count = bytes.readInt32BE(COUNT_AT);
  // The broker's clock gives all records the batch's newest time.
  const hasLogTime = (attributes & LOG_APPEND_TIME) !== 0;
  const baseMs = Number(bytes.readBigInt64BE(hasLogTime ? NEWEST_TIME_AT : FIRST_TIME_AT));
  const codec = attributes & CODEC_MASK;
  if (count > RECORDS_MAX) throw new Error(`a record batch of ${count} records, of which ${RECORDS_MAX} may be`);
  const content = codec === 0 ? bytes.subarray(RECORDS_AT) : inflated(codec, bytes);
  if (codec !== 0) onInflated(content.length);
  const reader = new RecordReader(content);
  const lastOffset = firstOffset + bytes.readInt32BE(LAST_OFFSET_DELTA_AT);
  const records: ReadRecord[] = [];
  let before = firstOffset - 1;
  for (let at = 0; at < count; at++) {
    const end = reader.next();
    const deltaMs = reader.varint();
    const appendMs = hasLogTime ? baseMs : baseMs + deltaMs;
    const offset = firstOffset + reader.varint();
    if (offset <= before || offset > lastOffset)
      throw new Error(`a record ${offset} behind ${before} of ${lastOffset}`);
    before = offset;
    const key = reader.text(end);
    records.push({ partition, offset, appendMs, key, value: reader.view(end) });
    // Headers are skipped: our writers send none.
    reader.at = end;
  }
  return records;
}

function inflated(number: number, bytes: Buffer): Buffer {
  const codec = codecOf(number);
  if (codec === null) throw new Error(`compressed with codec ${number}`);
  return codec.inflate(bytes.subarray(RECORDS_AT));
}

class RecordReader {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Begins a record; skips length and attributes, returns its end. */
  next(): number {
    const length = this.varint();
    const end = this.at + length;
    if (length < 1 || end > this.#bytes.length) throw new Error(`a record of ${length} bytes`);
    this.at++;
    return end;
  }

  /** Decodes a zigzag number of seven bits per byte; exact up to 2^53. */
  varint(): number {
    let number = 0;
    let scale = 1;
    for (let length = 0; length < LONGEST_VARINT; length++) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined) throw new Error('a number behind the end');
      number += (byte & 0x7f) * scale;
      if (byte < 0x80) return number % 2 === 0 ? number / 2 : -(number + 1) / 2;
      scale *= 128;
    }
    throw new Error(`a number of more than ${LONGEST_VARINT} bytes`);
  }

  /** Reads text; '' = none. */
  text(end: number): string {
    const length = this.#lengthWithin(end);
    if (length <= 0) return '';
    const from = this.at;
    this.at += length;
    return this.#bytes.toString('utf8', from, this.at);
  }

  /** Returns a view of bytes, or null. */
  view(end: number): Buffer | null {
    const length = this.#lengthWithin(end);
    if (length < 0) return null;
    const from = this.at;
    this.at += length;
    return this.#bytes.subarray(from, this.at);
  }

  #lengthWithin(end: number): number {
    const length = this.varint();
    if (length < -1 || this.at + length > end)
      throw new Error(`${length} bytes in a record that has ${end - this.at} left`);
    return length;
  }
}

/** Bytes of 64 bits, seven in each. */
const LONGEST_VARINT = 10;
