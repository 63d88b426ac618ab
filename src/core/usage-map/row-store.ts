import { RecordStore } from './record-store.js';

/**
 * Rows of the usage map: one row is what one node reported for one lane. 44 bytes each in one buffer, so 500,000 rows
 * (100 nodes × 5,000 groups) take 22 MB, and over 75 MB as objects. Float32 loses nothing: the wire carries float32.
 *
 * Row by row and not in columns, because the rows of a lane, one per node, lie all over the store: a convergence then
 * waits for one or two lines of memory per row instead of six. What the rows of a record have in common stands in the
 * record (record-store.ts), which is small enough to be in the cache.
 *
 *     words of 4 bytes:  0 record · 1 map lane · 2 next row of the lane, or −1 · 3 the row before this one, or −1
 *                        4 next row of the record, or −1 · 5 usage · 7 demand · 9 share, each in both dimensions
 */
export class RowStore {
  #ints = new Int32Array(0);
  #floats = new Float32Array(0);
  readonly records = new RecordStore();
  readonly #free: number[] = [];
  #used = 0;

  constructor() {
    this.#view(new ArrayBuffer(INITIAL_ROWS * ROW_BYTES));
  }

  get count(): number {
    return this.#used - this.#free.length;
  }

  /** Rows there is room for. */
  get capacity(): number {
    return this.#ints.length / WORDS;
  }

  memberOf(row: number): number {
    return this.records.member[this.#ints[row * WORDS] as number] as number;
  }

  /** Map lane (index of the usage map) that the row belongs to. */
  laneOf(row: number): number {
    return this.#ints[row * WORDS + 1] as number;
  }

  /** Next row of the same lane, or −1. */
  nextOf(row: number): number {
    return this.#ints[row * WORDS + NEXT] as number;
  }

  /** Puts a new row before the first one of its lane, −1 where there is none. */
  link(row: number, first: number): void {
    this.#ints[row * WORDS + NEXT] = first;
    if (first !== -1) this.#ints[first * WORDS + PREVIOUS] = row;
  }

  /** Takes a row out of its lane; returns the one behind it, or −1. */
  unlink(row: number): number {
    const next = this.#ints[row * WORDS + NEXT] as number;
    const previous = this.#ints[row * WORDS + PREVIOUS] as number;
    if (next !== -1) this.#ints[next * WORDS + PREVIOUS] = previous;
    if (previous !== -1) this.#ints[previous * WORDS + NEXT] = next;
    return next;
  }

  /** Next row of the same record, or −1: a chain is 200 bytes less per record than an array of its rows. */
  nextOfRecord(row: number): number {
    return this.#ints[row * WORDS + NEXT_OF_RECORD] as number;
  }

  chain(row: number, next: number): void {
    this.#ints[row * WORDS + NEXT_OF_RECORD] = next;
  }

  usageOf(row: number, dimension: number): number {
    return this.#floats[row * WORDS + USAGE + dimension] as number;
  }

  demandOf(row: number, dimension: number): number {
    return this.#floats[row * WORDS + DEMAND + dimension] as number;
  }

  shareOf(row: number, dimension: number): number {
    return this.#floats[row * WORDS + SHARE + dimension] as number;
  }

  readMsOf(row: number): number {
    return this.records.readMs[this.#ints[row * WORDS] as number] as number;
  }

  /** Partition whose log the row was read from. */
  partitionOf(row: number): number {
    return this.records.partition[this.#ints[row * WORDS] as number] as number;
  }

  /** Log time since the row was read, given that of its partition now: right below 49 days, and reports are forced. */
  ageMs(row: number, nowLogMs: number): number {
    const record = this.#ints[row * WORDS] as number;
    return (Math.floor(nowLogMs) - (this.records.logMs[record] as number)) >>> 0;
  }

  /** A new row; link it. */
  add(record: number, lane: number, report: RowContent): number {
    const row = this.#allocate();
    const first = row * WORDS;
    this.#ints[first] = record;
    this.#ints[first + 1] = lane;
    this.#ints[first + NEXT] = -1;
    this.#ints[first + PREVIOUS] = -1;
    this.#ints[first + NEXT_OF_RECORD] = -1;
    this.write(row, report);
    return row;
  }

  /** What the row says from now on; its record and its lane stay. */
  write(row: number, report: RowContent): void {
    const first = row * WORDS;
    this.#floats[first + USAGE] = report.usageMessages;
    this.#floats[first + USAGE + 1] = report.usageBytes;
    this.#floats[first + DEMAND] = report.demandMessages;
    this.#floats[first + DEMAND + 1] = report.demandBytes;
    this.#floats[first + SHARE] = report.shareMessages;
    this.#floats[first + SHARE + 1] = report.shareBytes;
  }

  release(row: number): void {
    this.#free.push(row);
  }

  #allocate(): number {
    const reused = this.#free.pop();
    if (reused !== undefined) return reused;
    if (this.#used === this.capacity) this.#grow();
    return this.#used++;
  }

  /** By a quarter, not by doubling: at most 5.5 of 27 MB are empty. */
  #grow(): void {
    const before = this.#ints;
    this.#view(new ArrayBuffer(Math.ceil(this.capacity * GROWTH) * ROW_BYTES));
    this.#ints.set(before);
  }

  #view(buffer: ArrayBuffer): void {
    this.#ints = new Int32Array(buffer);
    this.#floats = new Float32Array(buffer);
  }
}

type Column = 'usageMessages' | 'usageBytes' | 'demandMessages' | 'demandBytes' | 'shareMessages' | 'shareBytes';
type RowContent = Readonly<Record<Column, number>>;

const INITIAL_ROWS = 256;
const GROWTH = 1.25;
const ROW_BYTES = 44;
const WORDS = ROW_BYTES / 4;
const NEXT = 2;
const PREVIOUS = 3;
const NEXT_OF_RECORD = 4;
const USAGE = 5;
const DEMAND = 7;
const SHARE = 9;
