import type { StrictRead, StrictRecord } from '../../src/core/strict/strict-record.js';
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
}

/** Orders records, and hands them to each reader in that order. Some come late, some twice, some never. */
export class StrictLog {
  readonly reads: StrictRead[] = [];
  readonly #readers = new Map<StrictReader, { at: number; isDeaf: boolean }>();
  readonly #queue: EventQueue;
  readonly #random: Random;
  readonly #faults: StrictLogFaults;
  /** Hears every record as it is appended. */
  onAppend: (read: StrictRead) => void = () => {};

  constructor(queue: EventQueue, random: Random, faults: StrictLogFaults) {
    this.#queue = queue;
    this.#random = random;
    this.#faults = faults;
  }

  append(record: StrictRecord): void {
    const { appendMs, lost, late, lateMs, repeated } = this.#faults;
    if (this.#random.next() < repeated) this.#appendAfter(record, this.#between(appendMs) + this.#between([1, 3000]));
    if (this.#random.next() < lost) return;
    const laterMs = this.#random.next() < late ? this.#between([1, lateMs]) : 0;
    this.#appendAfter(record, this.#between(appendMs) + laterMs);
  }

  /** Begins to read at the end. */
  follow(reader: StrictReader): void {
    this.#readers.set(reader, { at: this.reads.length, isDeaf: false });
  }

  end(reader: StrictReader): void {
    this.#readers.delete(reader);
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

  #appendAfter(record: StrictRecord, delayMs: number): void {
    // The log has what was written then.
    const written = structuredClone(record);
    this.#queue.after(delayMs, () => {
      const read = { offset: this.reads.length, appendMs: this.#queue.nowMs, record: written };
      this.reads.push(read);
      this.onAppend(read);
      for (const reader of this.#readers.keys()) this.#deliverAfter(reader, this.#between(this.#faults.deliveryMs));
    });
  }

  #deliverAfter(reader: StrictReader, delayMs: number): void {
    const to = this.reads.length;
    this.#queue.after(delayMs, () => {
      const state = this.#readers.get(reader);
      if (state === undefined || state.isDeaf) return;
      while (state.at < to) reader.read(this.reads[state.at++]);
    });
  }
}
