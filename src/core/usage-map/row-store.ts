import { chargeIn, NO_STOCK, type ReportRow } from '../base/protocol/record.js';
import { BYTES, DIMENSION_COUNT, type Incarnation, MESSAGES } from '../base/vocabulary.js';
import { GROWTH_FACTOR } from './constants.js';
import { RecordStore } from './record-store.js';

/**
 * Stores the rows of the usage map: one node's report of one lane each. A row takes 80 bytes, so 500,000 rows (100
 * nodes × 5,000 groups) take 40 MB; as objects they took over 75 MB. Float32 loses nothing, because the wire carries
 * float32. Rows lie in pages of 1.3 MB: growth of a single buffer of 200 MB would copy it within one turn of the event
 * loop.
 *
 * The words of a row lie together, and not in columns: the rows of a lane, one per node, are spread over the store, so
 * a convergence waits for one or two lines of memory per row instead of six. The common words of a record's rows stand
 * in the record (record-store.ts), which is small enough for the cache.
 *
 *     words of 4 bytes:  0 record · 1 map lane · 2 next row of the lane, or −1 · 3 the row before this one, or −1
 *                        4 next row of the record, or −1 · 5 usage · 7 demand · 9 share, each in both dimensions
 *                        11 topics · 12 charge in both dimensions, as float64
 *                        16 stock in both dimensions, NaN = none · 18 unread charge in both dimensions
 */
export class RowStore {
  readonly #pages: RowPage[] = [];
  readonly records = new RecordStore();
  readonly #free: number[] = [];
  #used = 0;

  constructor() {
    this.#pages.push(new RowPage(INITIAL_ROWS));
  }

  get count(): number {
    return this.#used - this.#free.length;
  }

  /** Number of rows that fit. */
  get capacity(): number {
    return (this.#pages.length - 1) * PAGE_ROWS + this.#lastPage.rows;
  }

  /** Finds a row's page, for reading many words of it. `startOf` is the row's index there. */
  pageOf(row: number): RowPage {
    return this.#pages[row >> PAGE_BITS];
  }

  startOf(row: number): number {
    return (row & PAGE_MASK) * WORDS;
  }

  /** Reads the topics in use at the writer (PIP-82). */
  topicsOf(row: number): number {
    return this.#int(row, TOPICS);
  }

  memberOf(row: number): number {
    return this.records.member[this.#int(row, RECORD)];
  }

  /** Index in the usage map of the row's lane. */
  laneOf(row: number): number {
    return this.#int(row, LANE);
  }

  /** Finds the next row of the same lane, or −1. */
  nextOf(row: number): number {
    return this.#int(row, NEXT);
  }

  /** Puts a new row before its lane's first one, or −1. */
  link(row: number, first: number): void {
    this.#setInt(row, NEXT, first);
    if (first !== -1) this.#setInt(first, PREVIOUS, row);
  }

  /** Takes a row out of its lane; returns the next one, or −1. */
  unlink(row: number): number {
    const next = this.#int(row, NEXT);
    const previous = this.#int(row, PREVIOUS);
    if (next !== -1) this.#setInt(next, PREVIOUS, previous);
    if (previous !== -1) this.#setInt(previous, NEXT, next);
    return next;
  }

  /** Finds the next row of the same record, or −1. A chain saves 200 bytes a record against an array. */
  nextOfRecord(row: number): number {
    return this.#int(row, NEXT_OF_RECORD);
  }

  chain(row: number, next: number): void {
    this.#setInt(row, NEXT_OF_RECORD, next);
  }

  shareOf(row: number, dimension: number): number {
    return this.pageOf(row).shareOf(this.startOf(row), dimension);
  }

  chargeOf(row: number, dimension: number): number {
    return this.pageOf(row).doubles[(this.startOf(row) + CHARGE) / 2 + dimension];
  }

  chargesOf(row: number): [messages: number, bytes: number] {
    return [this.chargeOf(row, MESSAGES), this.chargeOf(row, BYTES)];
  }

  /** Reads the tokens in the author's bucket; NaN = no bucket. */
  stockOf(row: number, dimension: number): number {
    return this.pageOf(row).stockOf(this.startOf(row), dimension);
  }

  unreadOf(row: number, dimension: number): number {
    return this.pageOf(row).floats[this.startOf(row) + UNREAD + dimension];
  }

  recordOf(row: number): number {
    return this.#int(row, RECORD);
  }

  incarnationOf(row: number): Incarnation {
    return this.records.incarnation[this.#int(row, RECORD)];
  }

  readMsOf(row: number): number {
    return this.records.readMs[this.#int(row, RECORD)];
  }

  partitionOf(row: number): number {
    return this.records.partition[this.#int(row, RECORD)];
  }

  /** Computes the log time since the row was read. It is right below 49 days, and reports are forced earlier. */
  ageMs(row: number, nowLogMs: number): number {
    const record = this.#int(row, RECORD);
    return (Math.floor(nowLogMs) - this.records.logMs[record]) >>> 0;
  }

  /** Makes a new row; link it. */
  add(record: number, lane: number, report: RowContent): number {
    const row = this.#allocate();
    const { ints } = this.pageOf(row);
    const start = this.startOf(row);
    ints[start + RECORD] = record;
    ints[start + LANE] = lane;
    ints[start + NEXT] = -1;
    ints[start + PREVIOUS] = -1;
    ints[start + NEXT_OF_RECORD] = -1;
    this.write(row, report);
    return row;
  }

  /** Writes the content of a row; its record and lane stay. */
  write(row: number, report: RowContent): void {
    const { floats, ints } = this.pageOf(row);
    const start = this.startOf(row);
    ints[start + TOPICS] = Math.min(report.topics, TOPICS_MAX);
    floats[start + USAGE] = report.usageMessages;
    floats[start + USAGE + 1] = report.usageBytes;
    floats[start + DEMAND] = report.demandMessages;
    floats[start + DEMAND + 1] = report.demandBytes;
    floats[start + SHARE] = report.shareMessages;
    floats[start + SHARE + 1] = report.shareBytes;
    const { doubles } = this.pageOf(row);
    const [messages, bytes] = chargeIn(report);
    doubles[(start + CHARGE) / 2] = messages;
    doubles[(start + CHARGE) / 2 + 1] = bytes;
    const { stock = NO_STOCKS, unread = NOTHING_UNREAD } = report;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      floats[start + STOCK + dimension] = stock[dimension];
      floats[start + UNREAD + dimension] = unread[dimension];
    }
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

  #int(row: number, word: number): number {
    return this.pageOf(row).ints[this.startOf(row) + word];
  }

  #setInt(row: number, word: number, value: number): void {
    this.pageOf(row).ints[this.startOf(row) + word] = value;
  }

  get #lastPage(): RowPage {
    return this.#pages[this.#pages.length - 1];
  }

  /** Grows the first page by a quarter, then adds full pages. Little is empty, and little is copied. */
  #grow(): void {
    const last = this.#lastPage;
    if (last.rows === PAGE_ROWS) {
      this.#pages.push(new RowPage(PAGE_ROWS));
      return;
    }
    const larger = new RowPage(Math.min(PAGE_ROWS, Math.ceil(last.rows * GROWTH_FACTOR)));
    larger.ints.set(last.ints);
    this.#pages[0] = larger;
  }
}

/** Rows in one buffer. `start` is the word at which a row begins. */
class RowPage {
  readonly ints: Int32Array;
  readonly floats: Float32Array;
  readonly doubles: Float64Array;

  constructor(rows: number) {
    const buffer = new ArrayBuffer(rows * ROW_BYTES);
    this.ints = new Int32Array(buffer);
    this.floats = new Float32Array(buffer);
    this.doubles = new Float64Array(buffer);
  }

  get rows(): number {
    return this.ints.length / WORDS;
  }

  recordOf(start: number): number {
    return this.ints[start + RECORD];
  }

  usageOf(start: number, dimension: number): number {
    return this.floats[start + USAGE + dimension];
  }

  demandOf(start: number, dimension: number): number {
    return this.floats[start + DEMAND + dimension];
  }

  stockOf(start: number, dimension: number): number {
    return this.floats[start + STOCK + dimension];
  }

  shareOf(start: number, dimension: number): number {
    return this.floats[start + SHARE + dimension];
  }
}

type RowContent = Omit<ReportRow, 'groupId' | 'direction' | 'costs'>;

const NO_STOCKS = [NO_STOCK, NO_STOCK] as const;
const NOTHING_UNREAD = [0, 0] as const;

/** Largest signed word; the wire has 32 bits without a sign. */
const TOPICS_MAX = 2 ** 31 - 1;
const INITIAL_ROWS = 256;
const ROW_BYTES = 80;
const WORDS = ROW_BYTES / 4;
const PAGE_BITS = 14;
const PAGE_ROWS = 2 ** PAGE_BITS;
const PAGE_MASK = PAGE_ROWS - 1;
const RECORD = 0;
const LANE = 1;
const NEXT = 2;
const PREVIOUS = 3;
const NEXT_OF_RECORD = 4;
const USAGE = 5;
const DEMAND = 7;
const SHARE = 9;
const TOPICS = 11;
/** A whole number of float64 from the beginning of the row. */
const CHARGE = 12;
const STOCK = 16;
const UNREAD = 18;
