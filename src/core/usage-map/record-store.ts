import type { Incarnation } from '../vocabulary.js';

/** Slot of the member that no node is: whatever refers to it counts for nobody. */
export const NOBODY = 0;

/**
 * The newest record of every key, in columns of 53 bytes in all: what its rows have in common stands here once, not in
 * each of them. As objects 83,400 records (100 nodes × 5,000 groups) took 64 bytes each, and their rows 20 more.
 */
export class RecordStore {
  /** Slot of the member that wrote it; NOBODY while it is of a past life. */
  member = new Int32Array(INITIAL_RECORDS);
  partition = new Uint8Array(INITIAL_RECORDS);
  incarnation = new Float64Array(INITIAL_RECORDS);
  sequence = new Float64Array(INITIAL_RECORDS);
  /** Its first row, or −1; follow `rows.nextOfRecord`. */
  first = new Int32Array(INITIAL_RECORDS);
  /** When it was read: local monotonic time; log time of its partition, whole ms modulo 2³². */
  readMs = new Float64Array(INITIAL_RECORDS);
  logMs = new Int32Array(INITIAL_RECORDS);
  /** Its number at its node, and its neighbours at its node and partition (bucket-keys.ts), −1 = none. */
  bucket = new Int32Array(INITIAL_RECORDS);
  /** What it takes of the bound on rows (row-bounds.ts). */
  weight = new Int32Array(INITIAL_RECORDS);
  nextOfKeys = new Int32Array(INITIAL_RECORDS);
  previousOfKeys = new Int32Array(INITIAL_RECORDS);
  readonly #free: number[] = [];
  #used = 0;

  /** A record without rows. */
  add(): number {
    const record = this.#free.pop() ?? this.#used++;
    if (record === this.member.length) this.#grow();
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

  #grow(): void {
    const length = Math.ceil(this.member.length * GROWTH);
    const grown = <Column extends Int32Array | Uint8Array | Float64Array>(larger: Column, column: Column) => {
      larger.set(column);
      return larger;
    };
    this.member = grown(new Int32Array(length), this.member);
    this.partition = grown(new Uint8Array(length), this.partition);
    this.incarnation = grown(new Float64Array(length), this.incarnation);
    this.sequence = grown(new Float64Array(length), this.sequence);
    this.first = grown(new Int32Array(length), this.first);
    this.readMs = grown(new Float64Array(length), this.readMs);
    this.logMs = grown(new Int32Array(length), this.logMs);
    this.bucket = grown(new Int32Array(length), this.bucket);
    this.weight = grown(new Int32Array(length), this.weight);
    this.nextOfKeys = grown(new Int32Array(length), this.nextOfKeys);
    this.previousOfKeys = grown(new Int32Array(length), this.previousOfKeys);
  }
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
