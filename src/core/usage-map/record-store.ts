import type { Incarnation } from '../base/vocabulary.js';

/** The slot of a member that stands for no node: records that refer to it count for nobody. */
export const NOBODYS_SLOT = 0;

/**
 * The newest record of every key, in columns of 85 bytes in all. What the rows of a record have in common stands here
 * once, and not in each row. As objects, 83,400 records (100 nodes × 5,000 groups) took 64 bytes each, and 20 more per
 * row.
 */
export class RecordStore {
  /** Slot of the member that wrote the record; NOBODYS_SLOT while it is of a past life. */
  member = new Int32Array(initialLength(0));
  partition = new Uint8Array(initialLength(1));
  incarnation = new Float64Array(initialLength(2));
  sequence = new Float64Array(initialLength(3));
  /** First row of the record, or −1; follow `rows.nextOfRecord`. */
  first = new Int32Array(initialLength(4));
  /** When the record was read, local monotonic time. */
  readMs = new Float64Array(initialLength(5));
  /** When it was read, in log time of its partition, whole ms modulo 2³². */
  logMs = new Int32Array(initialLength(6));
  /** Its span time then, whole ms: a cluster may be off for months. */
  spanMs = new Float64Array(initialLength(11));
  /** The pauses in it that this reader has seen (log-time.ts), whole ms modulo 2³². */
  pauseMs = new Int32Array(initialLength(12));
  /** Offset of the record, and the offset after the last record that its author had read. */
  offset = new Float64Array(initialLength(13));
  readUntil = new Float64Array(initialLength(14));
  /** After so much span time all its buckets are full. */
  fullInMs = new Float32Array(initialLength(15));
  /** The bundle's number at its node. */
  bundle = new Int32Array(initialLength(7));
  /** The weight of the record, which counts against the bound on rows (row-bounds.ts). */
  weight = new Int32Array(initialLength(8));
  /** The neighbours in the list of one node and partition (bundle-keys.ts), −1 = none. */
  nextOfKeys = new Int32Array(initialLength(9));
  previousOfKeys = new Int32Array(initialLength(10));
  readonly #free: number[] = [];
  #used = 0;
  /** The length of the shortest column. */
  #roomUntil = INITIAL_RECORDS;

  /** Makes a record without rows and returns its number. */
  add(): number {
    const record = this.#free.pop() ?? this.#used++;
    if (record >= this.#roomUntil) this.#grow(record);
    this.first[record] = -1;
    this.weight[record] = 0;
    return record;
  }

  release(record: number): void {
    this.#free.push(record);
  }

  write(
    record: number,
    author: { readonly incarnation: Incarnation; readonly sequence: number },
    at: RecordSource,
  ): void {
    this.member[record] = at.member;
    this.partition[record] = at.partition;
    this.bundle[record] = at.bundle;
    this.incarnation[record] = author.incarnation;
    this.sequence[record] = author.sequence;
    this.readMs[record] = at.nowMs;
    this.logMs[record] = Math.floor(at.logMs) | 0;
    this.spanMs[record] = Math.floor(at.spanMs);
    this.pauseMs[record] = Math.floor(at.pauseMs) | 0;
    this.offset[record] = at.offset;
    this.readUntil[record] = Math.min(at.readUntil, at.offset);
    this.fullInMs[record] = at.fullInMs;
  }

  /** Copies only the columns that are full, which are few at a time: copying all of 800,000 records takes 20 ms. */
  #grow(record: number): void {
    this.member = withRoom(this.member, record, Int32Array);
    this.partition = withRoom(this.partition, record, Uint8Array);
    this.incarnation = withRoom(this.incarnation, record, Float64Array);
    this.sequence = withRoom(this.sequence, record, Float64Array);
    this.first = withRoom(this.first, record, Int32Array);
    this.readMs = withRoom(this.readMs, record, Float64Array);
    this.logMs = withRoom(this.logMs, record, Int32Array);
    this.spanMs = withRoom(this.spanMs, record, Float64Array);
    this.pauseMs = withRoom(this.pauseMs, record, Int32Array);
    this.offset = withRoom(this.offset, record, Float64Array);
    this.readUntil = withRoom(this.readUntil, record, Float64Array);
    this.fullInMs = withRoom(this.fullInMs, record, Float32Array);
    this.bundle = withRoom(this.bundle, record, Int32Array);
    this.weight = withRoom(this.weight, record, Int32Array);
    this.nextOfKeys = withRoom(this.nextOfKeys, record, Int32Array);
    this.previousOfKeys = withRoom(this.previousOfKeys, record, Int32Array);
    const { member, partition, incarnation, sequence, first, readMs, logMs } = this;
    const { spanMs, pauseMs, offset, readUntil, fullInMs } = this;
    const { bundle, weight, nextOfKeys, previousOfKeys } = this;
    const columns = [member, partition, incarnation, sequence, first, readMs, logMs, bundle, weight];
    const ofLevels = [spanMs, pauseMs, offset, readUntil, fullInMs];
    this.#roomUntil = Math.min(...[...columns, ...ofLevels, nextOfKeys, previousOfKeys].map(({ length }) => length));
  }
}

function withRoom<Column extends Int32Array | Uint8Array | Float32Array | Float64Array>(
  column: Column,
  record: number,
  kind: new (length: number) => Column,
): Column {
  if (record < column.length) return column;
  const larger = new kind(Math.ceil(column.length * GROWTH));
  larger.set(column);
  return larger;
}

/** The columns begin with different lengths and grow by one factor, so no two of them ever grow at the same time. */
function initialLength(column: number): number {
  return INITIAL_RECORDS + 5 * column;
}

/**
 * The slot for which a record counts, its key, when it was read (local monotonic time, and times of its partition),
 * where it stands, and what it says of its stocks.
 */
export interface RecordSource {
  readonly member: number;
  readonly partition: number;
  readonly bundle: number;
  readonly nowMs: number;
  readonly logMs: number;
  readonly spanMs: number;
  readonly pauseMs: number;
  readonly offset: number;
  readonly readUntil: number;
  readonly fullInMs: number;
}

const INITIAL_RECORDS = 256;
const GROWTH = 1.25;
