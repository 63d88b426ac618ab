import { grown } from '../base/grown.js';
import type { Author } from '../base/protocol/record.js';
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

  write(record: number, author: Omit<Author, 'nodeKey'>, at: RecordSource): void {
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
    for (const name of COLUMNS) {
      const column = this[name];
      if (record < column.length) continue;
      Object.assign(this, { [name]: grown(column, Math.ceil(column.length * GROWTH_FACTOR)) });
    }
    this.#roomUntil = Math.min(...COLUMNS.map((name) => this[name].length));
  }
}

/** Returns the first length of a column. All differ and grow by one factor, so no two ever grow at the same time. */
function initialLength(column: number): number {
  return INITIAL_RECORDS + 5 * column;
}

/** Place and times of a record: the slot for which it counts, its key, its local and log times, and its buckets. */
interface RecordSource extends ReadTime {
  readonly member: number;
  readonly partition: number;
  readonly bundle: number;
  readonly readUntil: number;
  readonly fullInMs: number;
}

export interface ReadTime {
  readonly nowMs: number;
  /** Log time of the partition, its span time, and the pauses therein. */
  readonly logMs: number;
  readonly spanMs: number;
  readonly pauseMs: number;
  readonly offset: number;
}

const INITIAL_RECORDS = 256;
// biome-ignore format: a list of names
const COLUMNS = [
  'member', 'partition', 'incarnation', 'sequence', 'first', 'readMs', 'logMs', 'spanMs', 'pauseMs', 'offset',
  'readUntil', 'fullInMs', 'bundle', 'weight', 'nextOfKeys', 'previousOfKeys',
] as const;
