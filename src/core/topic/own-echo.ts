import { invariant } from '../invariant.js';

/**
 * Own records read back, per partition. What counts is when the newest echoed record was *sent*, not when it was read:
 * a backlog of old echoes after a stall proves nothing about now.
 * All times are of the local monotonic clock, in milliseconds.
 */
export class OwnEcho {
  /** Sent time of the newest own record read back; −Infinity before the first. */
  readonly freshMs: Float64Array;
  readonly #inFlight: readonly SentTimes[];

  constructor(partitions: number) {
    invariant(partitions >= 1 && partitions <= 16, 'partitions must be 1 … 16', { partitions });
    this.freshMs = new Float64Array(partitions).fill(Number.NEGATIVE_INFINITY);
    this.#inFlight = Array.from({ length: partitions }, () => new SentTimes());
  }

  /** @param sequence rises with every call */
  sent(partition: number, sequence: number, nowMs: number): void {
    (this.#inFlight[partition] as SentTimes).add(sequence, nowMs);
  }

  /**
   * A record of this incarnation came back from the log; returns the milliseconds it took, or −1 when that is not
   * known: a newer one came back before, or more are in flight than are remembered one by one.
   */
  readBack(partition: number, sequence: number, nowMs: number): number {
    const inFlight = this.#inFlight[partition] as SentTimes;
    if (!inFlight.take(sequence)) return -1;
    const { takenMs, isExact } = inFlight;
    if (takenMs > (this.freshMs[partition] as number)) this.freshMs[partition] = takenMs;
    return isExact ? nowMs - takenMs : -1;
  }
}

/**
 * When the records in flight of one partition were sent. Those of one moment (a round) are one entry, because they
 * share its time, so however many records a round writes, 1,024 entries are the rounds of 20 s. When there are more,
 * every second one of the older half is forgotten: an echo between two entries proves the time of the earlier one,
 * which is never too new. So nothing grows while the topic is away, and the last 512 moments are exact.
 */
class SentTimes {
  /** Of the record that was taken last: when it was sent, or (not exact) a moment before. */
  takenMs = 0;
  isExact = false;
  #first = new Float64Array(INITIAL_ENTRIES);
  #last = new Float64Array(INITIAL_ENTRIES);
  #sentMs = new Float64Array(INITIAL_ENTRIES);
  /** Entries from here to `#end` are in flight, in the order of their sequences. */
  #begin = 0;
  #end = 0;

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

  /** The record came back, and with it everything before is settled. Returns whether it was in flight. */
  take(sequence: number): boolean {
    let low = this.#begin;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#first[middle] as number) <= sequence) low = middle + 1;
      else high = middle;
    }
    const entry = low - 1;
    if (entry < this.#begin) return false;
    this.takenMs = this.#sentMs[entry] as number;
    this.isExact = sequence <= (this.#last[entry] as number);
    // The entry stays: further records of its moment come back, too.
    this.#begin = entry;
    return true;
  }

  #makeRoom(): void {
    const count = this.#end - this.#begin;
    if (this.#begin >= count) this.#moveToFront(0);
    else if (count < MAX_ENTRIES) this.#grow();
    else this.#moveToFront(count / 2);
  }

  /** Every second one of the oldest `thinned` entries is left out. */
  #moveToFront(thinned: number): void {
    const wholeFrom = this.#begin + thinned;
    let to = 0;
    for (let from = this.#begin; from < this.#end; from += from < wholeFrom ? 2 : 1) {
      this.#first[to] = this.#first[from] as number;
      this.#last[to] = this.#last[from] as number;
      this.#sentMs[to++] = this.#sentMs[from] as number;
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
