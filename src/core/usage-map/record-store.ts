import type { Incarnation } from '../vocabulary.js';

/** Slot of the member that no node is: whatever refers to it counts for nobody. */
export const NOBODY = 0;

/**
 * The newest record of every key, in columns of 53 bytes in all: what its rows have in common stands here once, not in
 * each of them. As objects 83,400 records (100 nodes × 5,000 groups) took 64 bytes each, and their rows 20 more.
 */
export class RecordStore {
  /** Slot of the member that wrote it; NOBODY while it is of a past life. */
  member = new Int32Array(initialLength(0));
  partition = new Uint8Array(initialLength(1));
  incarnation = new Float64Array(initialLength(2));
  sequence = new Float64Array(initialLength(3));
  /** Its first row, or −1; follow `rows.nextOfRecord`. */
  first = new Int32Array(initialLength(4));
  /** When it was read: local monotonic time; log time of its partition, whole ms modulo 2³². */
  readMs = new Float64Array(initialLength(5));
  logMs = new Int32Array(initialLength(6));
  /** Its number at its node, and its neighbours at its node and partition (bucket-keys.ts), −1 = none. */
  bucket = new Int32Array(initialLength(7));
  /** What it takes of the bound on rows (row-bounds.ts). */
  weight = new Int32Array(initialLength(8));
  nextOfKeys = new Int32Array(initialLength(9));
  previousOfKeys = new Int32Array(initialLength(10));
  readonly #free: number[] = [];
  #used = 0;
  /** The shortest column ends here. */
  #roomUntil = INITIAL_RECORDS;

  /** A record without rows. */
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
    at: RecordPlace,
  ): void {
    this.member[record] = at.member;
    this.partition[record] = at.partition;
    this.bucket[record] = at.bucket;
    this.incarnation[record] = author.incarnation;
    this.sequence[record] = author.sequence;
    this.readMs[record] = at.nowMs;
    this.logMs[record] = Math.floor(at.logMs) | 0;
  }

  /** Only the columns that are full, and these are few at a time: copying all of 800,000 records takes 20 ms. */
  #grow(record: number): void {
    this.member = withRoom(this.member, record, Int32Array);
    this.partition = withRoom(this.partition, record, Uint8Array);
    this.incarnation = withRoom(this.incarnation, record, Float64Array);
    this.sequence = withRoom(this.sequence, record, Float64Array);
    this.first = withRoom(this.first, record, Int32Array);
    this.readMs = withRoom(this.readMs, record, Float64Array);
    this.logMs = withRoom(this.logMs, record, Int32Array);
    this.bucket = withRoom(this.bucket, record, Int32Array);
    this.weight = withRoom(this.weight, record, Int32Array);
    this.nextOfKeys = withRoom(this.nextOfKeys, record, Int32Array);
    this.previousOfKeys = withRoom(this.previousOfKeys, record, Int32Array);
    const { member, partition, incarnation, sequence, first, readMs, logMs } = this;
    const { bucket, weight, nextOfKeys, previousOfKeys } = this;
    const columns = [member, partition, incarnation, sequence, first, readMs, logMs, bucket, weight];
    this.#roomUntil = Math.min(...[...columns, nextOfKeys, previousOfKeys].map(({ length }) => length));
  }
}

function withRoom<Column extends Int32Array | Uint8Array | Float64Array>(
  column: Column,
  record: number,
  kind: new (length: number) => Column,
): Column {
  if (record < column.length) return column;
  const larger = new kind(Math.ceil(column.length * GROWTH));
  larger.set(column);
  return larger;
}

/** Lengths that differ grow at different times, for good: all by the same factor. */
function initialLength(column: number): number {
  return INITIAL_RECORDS + 5 * column;
}

/** For whom it counts, its key, and when it was read: local monotonic time, log time of the partition. */
export interface RecordPlace {
  readonly member: number;
  readonly partition: number;
  readonly bucket: number;
  readonly nowMs: number;
  readonly logMs: number;
}

const INITIAL_RECORDS = 256;
const GROWTH = 1.25;
