import { crc32 } from 'node:zlib';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import type { GroupSettings, LimitingSettings } from '../../core/base/settings.js';

/**
 * Recording of a report topic: what one reader was given, in its order.
 *
 *     "qmrec001" · frame · frame · …            frame = u32 length of the payload · u32 CRC-32 of it · payload
 *
 * All numbers are big-endian. A payload begins with its kind:
 *
 *     0 header     JSON; the first frame, once
 *     1 record     u16 partition · u8 flags (1 = tombstone) · u16 bytes of the key · f64 offset ·
 *                  f64 append time, ms · key, UTF-8 · value as it stood in the topic
 *     2 caught up  what follows was appended while the recording ran
 *     3 end        f64 records; missing where the recorder was killed
 *     4 epoch      name of the log to which the records after it belong, UTF-8
 *
 * Files only grow: a killed recorder or a full disk leaves one that is readable up to there.
 */
export const RECORDING_MAGIC = Buffer.from('qmrec001', 'latin1');
export const FRAME_HEAD_BYTES = 8;
/** Most bytes of a frame; Kafka's bound on records is 1 MB by default. */
export const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

export const KIND_HEADER = 0;
export const KIND_RECORD = 1;
export const KIND_CAUGHT_UP = 2;
export const KIND_END = 3;
export const KIND_EPOCH = 4;

const TOMBSTONE = 1;
const RECORD_HEAD_BYTES = 22;
const END_BYTES = 9;

/** Inputs for shares beside the records; never a credential. */
export interface RecordingHeader {
  readonly format: 1;
  readonly cluster: string;
  /** Version of the recording program. */
  readonly version: string;
  readonly topic: string;
  /** ISO 8601 by the recorder's clock, for people. */
  readonly startedAt: string;
  readonly partitions: number;
  /** Settings by name, as in CoordinatorSettings. */
  readonly timing: Readonly<Record<string, number>>;
  readonly limiting: LimitingSettings;
  readonly groups: readonly GroupSettings[];
  readonly keys: readonly RecordedTemplate[];
}

/** Template of keys, with single keys' settings. */
interface RecordedTemplate {
  /** As `key:{id}`. */
  readonly pattern: string;
  readonly group: GroupSettings;
  readonly overrides: readonly GroupSettings[];
}

export function encodeFrame(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  frame.writeUInt32BE(payload.length, 0);
  frame.writeUInt32BE(crc32(payload), 4);
  frame.set(payload, FRAME_HEAD_BYTES);
  return frame;
}

export function encodeHeader(header: RecordingHeader): Buffer {
  // An unlimited quota is Infinity, which JSON has not.
  const text = JSON.stringify(header, (_, value) => (value === Infinity ? { unlimited: true } : value));
  return Buffer.concat([Buffer.of(KIND_HEADER), Buffer.from(text, 'utf8')]);
}

/** Decodes a header; throws what JSON.parse throws. */
export function decodeHeader(payload: Buffer): unknown {
  return JSON.parse(payload.toString('utf8', 1), reviveInfinity);
}

export function encodeRecord({ partition, offset, appendMs, key, value }: ReadRecord): Buffer {
  const keyBytes = Buffer.from(key, 'utf8');
  const head = Buffer.allocUnsafe(RECORD_HEAD_BYTES);
  head.writeUInt8(KIND_RECORD, 0);
  head.writeUInt16BE(partition, 1);
  head.writeUInt8(value === null ? TOMBSTONE : 0, 3);
  head.writeUInt16BE(keyBytes.length, 4);
  head.writeDoubleBE(offset, 6);
  head.writeDoubleBE(appendMs, 14);
  return Buffer.concat([head, keyBytes, value ?? EMPTY]);
}

/** Decodes a record; null = too short for what it says. */
export function decodeRecord(payload: Buffer): ReadRecord | null {
  if (payload.length < RECORD_HEAD_BYTES) return null;
  const valueAt = RECORD_HEAD_BYTES + payload.readUInt16BE(4);
  if (payload.length < valueAt) return null;
  const isTombstone = payload.readUInt8(3) === TOMBSTONE;
  return {
    partition: payload.readUInt16BE(1),
    offset: payload.readDoubleBE(6),
    appendMs: payload.readDoubleBE(14),
    key: payload.toString('utf8', RECORD_HEAD_BYTES, valueAt),
    value: isTombstone ? null : payload.subarray(valueAt),
  };
}

export function encodeEpoch(epoch: string): Buffer {
  return Buffer.concat([Buffer.of(KIND_EPOCH), Buffer.from(epoch, 'utf8')]);
}

export function decodeEpoch(payload: Buffer): string {
  return payload.toString('utf8', 1);
}

export function encodeEnd(records: number): Buffer {
  const payload = Buffer.allocUnsafe(END_BYTES);
  payload.writeUInt8(KIND_END, 0);
  payload.writeDoubleBE(records, 1);
  return payload;
}

/** Decodes the count of records; null = too short. */
export function decodeEnd(payload: Buffer): number | null {
  return payload.length < END_BYTES ? null : payload.readDoubleBE(1);
}

const EMPTY = new Uint8Array(0);

function reviveInfinity(_: string, value: unknown): unknown {
  const isMarker = typeof value === 'object' && value !== null && (value as { unlimited?: unknown }).unlimited === true;
  return isMarker ? Infinity : value;
}
