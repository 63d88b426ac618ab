import type { TraceRow } from './trace.js';

/**
 * A trace replayed `speed` times faster than it happened, again and again: after the last request comes, one mean gap later,
 * the first one. It keeps no clock; who replays tells how much time has passed.
 */
export class Replay {
  readonly #rows: readonly TraceRow[];
  readonly #speed: number;
  /** Length of one pass, in milliseconds of the recording. */
  readonly #spanMs: number;
  #pass = 0;
  #next = 0;

  constructor(rows: readonly TraceRow[], speed: number) {
    const recordedMs = rows[rows.length - 1].atMs;
    this.#rows = rows;
    this.#speed = speed;
    this.#spanMs = recordedMs + recordedMs / (rows.length - 1);
  }

  /** When the next request arrives, milliseconds since the start of the replay. */
  get nextAtMs(): number {
    return (this.#pass * this.#spanMs + this.#rows[this.#next].atMs) / this.#speed;
  }

  /** The requests that have arrived by then and were not handed out before. */
  arrivedBy(elapsedMs: number): TraceRow[] {
    const arrived: TraceRow[] = [];
    while (this.nextAtMs <= elapsedMs) {
      arrived.push(this.#rows[this.#next]);
      this.#next++;
      if (this.#next < this.#rows.length) continue;
      this.#next = 0;
      this.#pass++;
    }
    return arrived;
  }
}
