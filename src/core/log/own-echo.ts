import { grown } from '../base/grown.js';
import { invariant } from '../base/invariant.js';
import { ECHO_MOMENTS_MAX } from './constants.js';

/**
 * Remembers when the own records that were read back were sent. The time of sending counts, not that of reading: a
 * backlog of old records that are read after a stall proves nothing about the present. All times are milliseconds of
 * the local monotonic clock.
 */
export class OwnEcho {
  /** Sending time of the newest own record read back; −Infinity before the first. */
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
   * Notes that a record of this life was read. Returns the milliseconds from sending to reading; −1 = not known,
   * because a newer record came back first or the sending times were thinned out.
   */
  readBack(partition: number, sequence: number, nowMs: number): number {
    const inFlight = this.#inFlight[partition];
    if (!inFlight.take(sequence)) return -1;
    const { takenMs, isExact } = inFlight;
    if (takenMs > this.freshMs[partition]) this.freshMs[partition] = takenMs;
    return isExact ? nowMs - takenMs : -1;
  }

  /** Returns the sending time of the oldest record in flight; Infinity = none. */
  awaitedSinceMs(partition: number): number {
    return this.#inFlight[partition].oldestMs;
  }
}

/**
 * Keeps the sending times of one partition's records in flight. All records of one moment (a round) share an entry, so
 * 1,024 entries last for 51 s of rounds of 50 ms. When they are full, every second entry of the older half is dropped.
 * A record between two entries then proves the time of the earlier one, which is never too late. The last 512 moments
 * stay exact.
 */
class SentTimes {
  /** Sending time of the record taken last; earlier if not `isExact`. */
  takenMs = 0;
  isExact = false;
  /** Per entry: its first and last sequence, and its time of sending. */
  #first = new Float64Array(INITIAL_ENTRIES);
  #last = new Float64Array(INITIAL_ENTRIES);
  #sentMs = new Float64Array(INITIAL_ENTRIES);
  /** First entry in flight, in order of sequence; `#end` is behind the last one. */
  #begin = 0;
  #end = 0;
  #hasTaken = false;

  /** Sending time of the entry after the one taken last; Infinity = none. */
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

  /** Takes a record that came back, and drops all entries before it. Returns true if it was in flight. */
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
    else if (count < ECHO_MOMENTS_MAX) this.#grow();
    else this.#moveToFront(count / 2);
  }

  /** Moves all entries to the front. Every second one of the oldest `thinned` is dropped. */
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
    const length = 2 * this.#first.length;
    this.#first = grown(this.#first, length);
    this.#last = grown(this.#last, length);
    this.#sentMs = grown(this.#sentMs, length);
  }
}

const INITIAL_ENTRIES = 32;
