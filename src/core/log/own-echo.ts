import { invariant } from '../base/invariant.js';

/**
 * Own records read back, per partition. What counts is when the newest of them was *sent*, not when it was read: a
 * backlog of old records that are read after a stall proves nothing about the present.
 * All times are of the local monotonic clock, in milliseconds.
 */
export class OwnEcho {
  /** When the newest own record that was read back had been sent; −Infinity before the first. */
  readonly freshMs: Float64Array;
  readonly #inFlight: readonly SentTimes[];

  constructor(partitions: number) {
    invariant(partitions >= 1 && partitions <= 16, 'partitions must be 1 … 16', { partitions });
    this.freshMs = new Float64Array(partitions).fill(-Infinity);
    this.#inFlight = Array.from({ length: partitions }, () => new SentTimes());
  }

  /** @param sequence rises with every call */
  sent(partition: number, sequence: number, nowMs: number): void {
    this.#inFlight[partition].add(sequence, nowMs);
  }

  /**
   * Called when a record of this life is read from the log. Returns the milliseconds that it took; −1 when they are not
   * known, because a newer one came back before, or because more are in flight than are remembered one by one.
   */
  readBack(partition: number, sequence: number, nowMs: number): number {
    const inFlight = this.#inFlight[partition];
    if (!inFlight.take(sequence)) return -1;
    const { takenMs, isExact } = inFlight;
    if (takenMs > this.freshMs[partition]) this.freshMs[partition] = takenMs;
    return isExact ? nowMs - takenMs : -1;
  }

  /** When the oldest record was sent that has not been read back; Infinity where all have been. */
  awaitedSinceMs(partition: number): number {
    return this.#inFlight[partition].oldestMs;
  }
}

/**
 * When the records of one partition that are in flight were sent. All records of one moment (a round) share an entry,
 * so 1,024 entries last for 51 s of rounds of 50 ms, however many records each writes. When they are full, every
 * second entry of the older half is dropped. A record between two entries then proves the time of the earlier one,
 * which is never too late. So nothing grows while the topic is away, and the last 512 moments stay exact.
 */
class SentTimes {
  /** When the record that was taken last had been sent, or (not exact) a moment before that. */
  takenMs = 0;
  isExact = false;
  /** Per entry: its first and its last sequence, and when they were sent. */
  #first = new Float64Array(INITIAL_ENTRIES);
  #last = new Float64Array(INITIAL_ENTRIES);
  #sentMs = new Float64Array(INITIAL_ENTRIES);
  /** The entries from here to `#end` are in flight, in the order of their sequences. */
  #begin = 0;
  #end = 0;
  #hasTaken = false;

  /** When the oldest entry was sent behind the one that was taken last; Infinity where there is none. */
  get oldestMs(): number {
    const oldest = this.#begin + Number(this.#hasTaken);
    return oldest < this.#end ? this.#sentMs[oldest] : Infinity;
  }

  add(sequence: number, nowMs: number): void {
    const newest = this.#end - 1;
    if (newest >= this.#begin && this.#sentMs[newest] === nowMs) {
      this.#last[newest] = sequence;
      return;
    }
    if (this.#end === this.#first.length) this.#makeRoom();
    this.#first[this.#end] = sequence;
    this.#last[this.#end] = sequence;
    this.#sentMs[this.#end++] = nowMs;
  }

  /** Called when a record came back: all before it are no longer awaited. Returns whether it was in flight. */
  take(sequence: number): boolean {
    let low = this.#begin;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#first[middle] <= sequence) low = middle + 1;
      else high = middle;
    }
    const entry = low - 1;
    if (entry < this.#begin) return false;
    this.takenMs = this.#sentMs[entry];
    this.isExact = sequence <= this.#last[entry];
    // The entry stays, because further records of its moment will come back.
    this.#begin = entry;
    this.#hasTaken = true;
    return true;
  }

  #makeRoom(): void {
    const count = this.#end - this.#begin;
    if (this.#begin >= count) this.#moveToFront(0);
    else if (count < MAX_ENTRIES) this.#grow();
    else this.#moveToFront(count / 2);
  }

  /** Moves all entries to the front, without every second one of the oldest `thinned`. */
  #moveToFront(thinned: number): void {
    const wholeFrom = this.#begin + thinned;
    let to = 0;
    for (let from = this.#begin; from < this.#end; from += from < wholeFrom ? 2 : 1) {
      this.#first[to] = this.#first[from];
      this.#last[to] = this.#last[from];
      this.#sentMs[to++] = this.#sentMs[from];
    }
    this.#begin = 0;
    this.#end = to;
  }

  #grow(): void {
    const grown = (column: Float64Array) => {
      const larger = new Float64Array(2 * column.length);
      larger.set(column);
      return larger;
    };
    this.#first = grown(this.#first);
    this.#last = grown(this.#last);
    this.#sentMs = grown(this.#sentMs);
  }
}

const INITIAL_ENTRIES = 32;
const MAX_ENTRIES = 1024;
