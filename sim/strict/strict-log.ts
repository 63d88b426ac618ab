import {
  recordKey,
  type StrictClaim,
  type StrictRead,
  type StrictWritten,
} from '../../src/core/strict/strict-record.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { Random } from '../cluster/random.js';

/** Delays and faults of a log: milliseconds, and parts of its records. */
export interface StrictLogFaults {
  readonly appendMs: readonly [low: number, high: number];
  readonly deliveryMs: readonly [low: number, high: number];
  readonly lost: number;
  readonly late: number;
  readonly lateMs: number;
  readonly repeated: number;
}

export interface StrictReader {
  read(read: StrictRead): void;
  /** The log is another: it begins anew. */
  beginEpoch(epoch: number): void;
}

interface Followed {
  at: number;
  isDeaf: boolean;
  /** True = it knows which log it reads. */
  isBegun: boolean;
  /** Records before this offset may have been compacted away. */
  readonly from: number;
}

/**
 * Orders records, and hands them to each reader in that order. Some come late, some twice, some never. Who begins to
 * read finds the newest of each key.
 */
export class StrictLog {
  reads: StrictRead[] = [];
  /** Records of all epochs. */
  records = 0;
  #epoch = 1;
  #newest = new Map<string, number>();
  readonly #readers = new Map<StrictReader, Followed>();
  readonly #queue: EventQueue;
  readonly #random: Random;
  readonly #faults: StrictLogFaults;
  /** Called with every record as it is appended. */
  onAppend: (read: StrictRead) => void = () => {};
  /** Milliseconds by which the log's clock is ahead. */
  aheadMs = 0;
  /** Records that are always lost. */
  drops: StrictWritten['kind'] | null = null;

  constructor(queue: EventQueue, random: Random, faults: StrictLogFaults) {
    this.#queue = queue;
    this.#random = random;
    this.#faults = faults;
  }

  /** Time by the log's clock. */
  get clockMs(): number {
    return this.#queue.nowMs + this.aheadMs;
  }

  /** Records that compaction leaves. */
  get kept(): number {
    return this.#newest.size;
  }

  /** @param epoch the log that the author has read */
  append(written: StrictWritten, epoch: number): void {
    if (written.kind === 'claim') rejectUnreadable(written);
    const { appendMs, lost, late, lateMs, repeated } = this.#faults;
    if (this.#random.next() < repeated)
      this.#appendAfter(written, epoch, this.#between(appendMs) + this.#between([1, 3000]));
    if (this.#random.next() < lost || written.kind === this.drops) return;
    const laterMs = this.#random.next() < late ? this.#between([1, lateMs]) : 0;
    this.#appendAfter(written, epoch, this.#between(appendMs) + laterMs);
  }

  /** Begins to read at the start. */
  follow(reader: StrictReader): void {
    this.#readers.set(reader, { at: 0, isDeaf: false, isBegun: true, from: this.reads.length });
    reader.beginEpoch(this.#epoch);
    this.#deliverAfter(reader, this.#between(this.#faults.deliveryMs));
  }

  /** True = the reader has read all. */
  hasRead(reader: StrictReader): boolean {
    return this.#readers.get(reader)?.at === this.reads.length;
  }

  end(reader: StrictReader): void {
    this.#readers.delete(reader);
  }

  /** Begins another log, empty; what was on its way into the former one is lost. */
  replace(): void {
    this.#epoch++;
    this.reads = [];
    this.#newest.clear();
    const epoch = this.#epoch;
    for (const [reader, { isDeaf }] of this.#readers) {
      const state = { at: 0, isDeaf, isBegun: false, from: 0 };
      this.#readers.set(reader, state);
      this.#queue.after(this.#between(this.#faults.deliveryMs), () => {
        if (this.#readers.get(reader) !== state) return;
        state.isBegun = true;
        reader.beginEpoch(epoch);
        this.#deliverAfter(reader, 1);
      });
    }
  }

  /** Holds back what a reader would read, or lets it read on. */
  deafen(reader: StrictReader, isDeaf: boolean): void {
    const state = this.#readers.get(reader);
    if (state === undefined) return;
    state.isDeaf = isDeaf;
    if (!isDeaf) this.#deliverAfter(reader, this.#between(this.#faults.deliveryMs));
  }

  #between([low, high]: readonly [number, number]): number {
    return Math.round(this.#random.between(low, high));
  }

  #appendAfter(written: StrictWritten, epoch: number, delayMs: number): void {
    const key = recordKey(written);
    // The log has what was written then.
    const record = written.kind === 'delete' ? null : structuredClone(written);
    this.#queue.after(delayMs, () => {
      if (epoch !== this.#epoch) return;
      if (record === null) this.#newest.delete(key);
      else this.#store(key, { offset: this.reads.length, appendMs: this.clockMs, record });
    });
  }

  #store(key: string, read: StrictRead): void {
    this.records++;
    this.reads.push(read);
    this.#newest.set(key, read.offset);
    this.onAppend(read);
    for (const reader of this.#readers.keys()) this.#deliverAfter(reader, this.#between(this.#faults.deliveryMs));
  }

  #deliverAfter(reader: StrictReader, delayMs: number): void {
    const to = this.reads.length;
    const epoch = this.#epoch;
    this.#queue.after(delayMs, () => {
      const state = this.#readers.get(reader);
      if (epoch !== this.#epoch || state === undefined || state.isDeaf || !state.isBegun) return;
      while (state.at < to) {
        const read = this.reads[state.at++];
        if (read.offset >= state.from || this.#newest.get(recordKey(read.record)) === read.offset) reader.read(read);
      }
    });
  }
}

/** Throws at what no reader would take: it counts nothing, whoever wrote it. */
function rejectUnreadable({ want, lagMs, hold }: StrictClaim): void {
  for (const number of [want, lagMs, hold]) {
    if (!(Number.isSafeInteger(number) && number >= 0)) throw new Error(`claim with ${number}`);
  }
}
