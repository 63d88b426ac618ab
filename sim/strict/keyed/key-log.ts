import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import type { EventQueue } from '../../cluster/event-queue.js';
import type { Random } from '../../cluster/random.js';

/** Delays and faults of a log: milliseconds, and parts of its records. */
export interface KeyLogFaults {
  readonly delayMs: readonly [low: number, high: number];
  readonly lost: number;
  readonly late: number;
  readonly lateMs: number;
  readonly repeated: number;
}

export interface KeyLogReader {
  beginEpoch(epoch: string): void;
  read(records: readonly ReadRecord[]): void;
  caughtUp(): void;
}

interface Followed {
  at: number;
  isDeaf: boolean;
  isBegun: boolean;
  /** Records before this offset may have been compacted away. */
  from: number;
}

/** A row as it is appended. */
export interface KeyRow {
  readonly key: string;
  readonly value: Uint8Array | null;
}

/** Orders rows; who begins to read finds the newest of each key, and of deleted ones nothing. */
export class KeyLog {
  appended = 0;
  faults: KeyLogFaults;
  #rows: ReadRecord[] = [];
  #epoch = 1;
  #newest = new Map<string, number>();
  readonly #readers = new Map<KeyLogReader, Followed>();
  readonly #queue: EventQueue;
  readonly #random: Random;

  constructor(queue: EventQueue, random: Random, faults: KeyLogFaults) {
    this.#queue = queue;
    this.#random = random;
    this.faults = faults;
  }

  get epoch(): string {
    return `log-${this.#epoch}`;
  }

  /** Keys of rows that compaction leaves. */
  get kept(): readonly string[] {
    return [...this.#newest].flatMap(([key, offset]) => (this.#rows[offset].value === null ? [] : [key]));
  }

  /** Appends rows of one write: together, late, twice or never. */
  append(rows: readonly KeyRow[], epoch: string): void {
    const { lost, late, lateMs, repeated } = this.faults;
    if (this.#random.next() < repeated) this.#appendAfter(rows, epoch, this.#delay() + this.#random.between(1, 3000));
    if (this.#random.next() < lost) return;
    this.#appendAfter(rows, epoch, this.#delay() + (this.#random.next() < late ? this.#random.between(1, lateMs) : 0));
  }

  follow(reader: KeyLogReader): void {
    const state = { at: 0, isDeaf: false, isBegun: true, from: this.#rows.length };
    this.#readers.set(reader, state);
    reader.beginEpoch(this.epoch);
    this.#deliver(reader);
    this.#queue.after(this.#delay() + 1, () => this.#catchUp(reader, state));
  }

  end(reader: KeyLogReader): void {
    this.#readers.delete(reader);
  }

  deafen(reader: KeyLogReader, isDeaf: boolean): void {
    const state = this.#readers.get(reader);
    if (state === undefined) return;
    state.isDeaf = isDeaf;
    if (!isDeaf) this.#deliver(reader);
  }

  /** Begins another log, empty. */
  replace(): void {
    this.#epoch++;
    this.#rows = [];
    this.#newest.clear();
    for (const [reader, { isDeaf }] of this.#readers) {
      const state = { at: 0, isDeaf, isBegun: false, from: 0 };
      this.#readers.set(reader, state);
      const begin = () => {
        if (this.#readers.get(reader) !== state) return;
        if (state.isDeaf) return this.#queue.after(100, begin);
        state.isBegun = true;
        reader.beginEpoch(this.epoch);
        this.#deliver(reader);
        this.#catchUp(reader, state);
      };
      this.#queue.after(this.#delay(), begin);
    }
  }

  #catchUp(reader: KeyLogReader, state: Followed): void {
    if (this.#readers.get(reader) !== state) return;
    if (state.at >= state.from && !state.isDeaf) reader.caughtUp();
    else this.#queue.after(this.#delay() + 1, () => this.#catchUp(reader, state));
  }

  #delay(): number {
    const [low, high] = this.faults.delayMs;
    return Math.round(this.#random.between(low, high));
  }

  #appendAfter(rows: readonly KeyRow[], epoch: string, delayMs: number): void {
    this.#queue.after(Math.round(delayMs), () => {
      if (epoch !== this.epoch) return;
      for (const row of rows) {
        const offset = this.#rows.length;
        this.#rows.push({ ...row, partition: 0, offset, appendMs: this.#queue.nowMs });
        this.#newest.set(row.key, offset);
        this.appended++;
      }
      for (const reader of this.#readers.keys()) this.#deliver(reader);
    });
  }

  #deliver(reader: KeyLogReader): void {
    const [to, epoch] = [this.#rows.length, this.#epoch];
    this.#queue.after(this.#delay(), () => {
      const state = this.#readers.get(reader);
      if (epoch !== this.#epoch || state === undefined || state.isDeaf || !state.isBegun) return;
      const records: ReadRecord[] = [];
      for (; state.at < to; state.at++) {
        const row = this.#rows[state.at];
        const isThere = this.#newest.get(row.key) === row.offset && row.value !== null;
        if (state.at >= state.from || isThere) records.push(row);
      }
      if (records.length > 0) reader.read(records);
    });
  }
}
