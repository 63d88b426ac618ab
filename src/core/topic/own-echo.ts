import { invariant } from '../invariant.js';

/**
 * Own records read back, per partition. What counts is when the newest echoed record was *sent*, not when it was read:
 * a backlog of old echoes after a stall proves nothing about now.
 * All times are of the local monotonic clock, in milliseconds.
 */
export class OwnEcho {
  /** Sent time of the newest own record read back; −Infinity before the first. */
  readonly freshMs: Float64Array;
  readonly #sentSequence: Float64Array;
  readonly #sentMs: Float64Array;
  readonly #next: Int32Array;

  constructor(partitions: number) {
    invariant(partitions >= 1 && partitions <= 16, 'partitions must be 1 … 16', { partitions });
    this.freshMs = new Float64Array(partitions).fill(Number.NEGATIVE_INFINITY);
    this.#sentSequence = new Float64Array(partitions * REMEMBERED).fill(-1);
    this.#sentMs = new Float64Array(partitions * REMEMBERED);
    this.#next = new Int32Array(partitions);
  }

  sent(partition: number, sequence: number, nowMs: number): void {
    const at = partition * REMEMBERED + (this.#next[partition] as number);
    this.#sentSequence[at] = sequence;
    this.#sentMs[at] = nowMs;
    this.#next[partition] = ((this.#next[partition] as number) + 1) % REMEMBERED;
  }

  /**
   * A record of this incarnation came back from the log; returns the milliseconds it took, or −1 when it is not
   * remembered.
   */
  readBack(partition: number, sequence: number, nowMs: number): number {
    const first = partition * REMEMBERED;
    for (let at = first; at < first + REMEMBERED; at++) {
      if (this.#sentSequence[at] !== sequence) continue;
      const sentMs = this.#sentMs[at] as number;
      if (sentMs > (this.freshMs[partition] as number)) this.freshMs[partition] = sentMs;
      return nowMs - sentMs;
    }
    return -1;
  }
}

/** Records in flight that are remembered per partition: 64 at one per 50 ms cover 3 s; an older echo proves little. */
const REMEMBERED = 64;
