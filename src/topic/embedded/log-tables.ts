/**
 * Tables of the store: by the first byte of keys in one LMDB database. Named databases would cost a transaction each at
 * the opening, and a page per commit.
 *
 *     L <offset>   an entry of the log (log-entry.ts), in order
 *     N <key>      the offset of the newest record of that key
 *     S            the state of the log
 *     I            the id of the log, given when it was made
 *     T <offset>   a tombstone behind the tail, to be removed when it is old
 */
const LOG = 0x4c;
const NEWEST = 0x4e;
const STATE = 0x53;
const TOMBSTONE = 0x54;
const ID = 0x49;

export const STATE_KEY = Buffer.from([STATE]);
export const ID_KEY = Buffer.from([ID]);

export const logKey = (offset: number): Buffer => offsetKey(LOG, offset);
export const tombstoneKey = (offset: number): Buffer => offsetKey(TOMBSTONE, offset);

/** Sorts behind every key of its table. */
export const LOG_END = Buffer.from([LOG + 1]);
export const TOMBSTONES_START = Buffer.from([TOMBSTONE]);
export const TOMBSTONES_END = Buffer.from([TOMBSTONE + 1]);

export function newestKey(recordKey: Buffer): Buffer {
  const key = Buffer.allocUnsafe(1 + recordKey.length);
  key[0] = NEWEST;
  key.set(recordKey, 1);
  return key;
}

export function offsetOfKey(key: Uint8Array): number {
  const { buffer, byteOffset } = key;
  return Number(new DataView(buffer, byteOffset).getBigUint64(1));
}

export function encodeOffset(offset: number): Buffer {
  const value = Buffer.allocUnsafe(8);
  value.writeDoubleLE(offset);
  return value;
}

export function decodeOffset(value: Buffer): number {
  return value.readDoubleLE();
}

/** State of the log, written with every commit. */
export interface LogState {
  endOffset: number;
  /** First offset of the tail, from which nothing was compacted away. */
  tailStart: number;
  tailBytes: number;
  tombstones: number;
  lastAppendMs: number;
  /** Id of the steady clock of the log's time (machine-clock.ts); 0 = none yet. */
  clockId: number;
  /** Log time when that clock showed 0. */
  clockZeroMs: number;
}

const EMPTY = { endOffset: 0, tailStart: 0, tailBytes: 0, tombstones: 0 };
export const EMPTY_LOG: LogState = { ...EMPTY, lastAppendMs: 0, clockId: 0, clockZeroMs: 0 };

export function encodeState(state: LogState): Buffer {
  const { endOffset, tailStart, tailBytes, tombstones, lastAppendMs, clockId, clockZeroMs } = state;
  const numbers = [endOffset, tailStart, tailBytes, tombstones, lastAppendMs, clockId, clockZeroMs];
  return Buffer.from(Float64Array.from(numbers).buffer);
}

/** Decodes a state; one of five numbers has no clock, and gets it with the next record. */
export function decodeState(value: Buffer): LogState {
  const numbers = new Float64Array(Uint8Array.from(value).buffer);
  const [endOffset, tailStart, tailBytes, tombstones, lastAppendMs, clockId = 0, clockZeroMs = 0] = numbers;
  return { endOffset, tailStart, tailBytes, tombstones, lastAppendMs, clockId, clockZeroMs };
}

/** Encodes an offset big endian, so that keys sort like offsets. */
function offsetKey(table: number, offset: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key[0] = table;
  key.writeBigUInt64BE(BigInt(offset), 1);
  return key;
}
