import type { Incarnation } from '../base/vocabulary.js';
import { GROWTH_FACTOR } from './constants.js';

/** Slot that stands for no node: records with it count for nobody. */
export const NOBODYS_SLOT = 0;

/**
 * Keeps the newest record of every key in columns, 85 bytes each. The common words of a record's rows stand here once.
 */
export class RecordStore {
  /** Slot of the author; NOBODYS_SLOT for a past life. */
  member = new Int32Array(initialLength(0));
  partition = new Uint8Array(initialLength(1));
  incarnation = new Float64Array(initialLength(2));
  sequence = new Float64Array(initialLength(3));
  /** First row of the record, or −1; follow `rows.nextOfRecord`. */
  first = new Int32Array(initialLength(4));
  /** Local monotonic time of reading. */
  readMs = new Float64Array(initialLength(5));
  /** Log time of reading on its partition, whole ms modulo 2³². */
  logMs = new Int32Array(initialLength(6));
  /** Span time of reading, whole ms: a cluster may be off for months. */
  spanMs = new Float64Array(initialLength(11));
  /** Pauses in `spanMs` since this reader caught up, whole ms modulo 2³². */
  pauseMs = new Int32Array(initialLength(12));
  /** Offset of the record, and its author's next offset to read. */
  offset = new Float64Array(initialLength(13));
  readUntil = new Float64Array(initialLength(14));
  /** Span time after which all its buckets are full. */
  fullInMs = new Float32Array(initialLength(15));
  /** Number of the bundle at its node. */
  bundle = new Int32Array(initialLength(7));
  /** Weight of the record against the bound on rows (row-bounds.ts). */
  weight = new Int32Array(initialLength(8));
  /** Neighbours in the list of one node and partition (bundle-keys.ts); −1 = none. */
  nextOfKeys = new Int32Array(initialLength(9));
  previousOfKeys = new Int32Array(initialLength(10));
  readonly #free: number[] = [];
  #used = 0;
  /** Length of the shortest column. */
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

  /** Copies only the full columns, few at a time: copying all of 800,000 records takes 20 ms. */
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
  const larger = new kind(Math.ceil(column.length * GROWTH_FACTOR));
  larger.set(column);
  return larger;
}

/** Returns the first length of a column. All differ and grow by one factor, so no two ever grow at the same time. */
function initialLength(column: number): number {
  return INITIAL_RECORDS + 5 * column;
}

/** Place and times of a record: the slot for which it counts, its key, its local and log times, and its buckets. */
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
