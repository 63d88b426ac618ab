import type { TraceRow } from './trace.js';

/** Replays a trace `speed` times faster. It loops with a mean gap, and keeps no clock. */
export class Replay {
  readonly #rows: readonly TraceRow[];
  readonly #speed: number;
  /** Length of one pass, milliseconds of the recording. */
  readonly #spanMs: number;
  #pass = 0;
  #next = 0;

  constructor(rows: readonly TraceRow[], speed: number) {
    const recordedMs = rows[rows.length - 1].atMs;
    this.#rows = rows;
    this.#speed = speed;
    this.#spanMs = recordedMs + recordedMs / (rows.length - 1);
  }

  get nextAtMs(): number {
    return (this.#pass * this.#spanMs + this.#rows[this.#next].atMs) / this.#speed;
  }

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
