import type { Rates } from '../../../core/base/vocabulary.js';

/** Milliseconds of a step, a bucket's depth and more; finer borrows quota from before. */
const DUE_STEP_MS = 100;
const STEPS_PER_SECOND = 10;

/**
 * Measures utilisation of min(quota, demand):
 *
 *     due  = Σ over steps of 100 ms of min(quota · 100 ms, what arrived in the step + what was waiting when it
 *     began)
 *     used = Σ over whole seconds of what was admitted
 *     utilisation = used ÷ due
 *
 * Both are parts of the quota, of the fuller dimension, as both limit the same work. Waiting work is demand again in
 * each step: unused quota is lost while somebody waits. Admissions add up over seconds, because the fuller dimension of
 * small steps flatters. An ideal limiter measures 100 % ± 1 (test/unit/demo/utilisation.test.ts).
 *
 * *Worked:* quota 300/s; 30 wait throughout, 24 are admitted in each 100 ms → 80 %.
 */
export class Utilisation {
  readonly #quota: Rates;
  readonly #waiting = [0, 0];
  /** Demand of the current step. */
  readonly #demand = [0, 0];
  readonly #admitted = [0, 0];
  #dueInSecond = 0;
  #steps = 0;
  #usedSeconds = 0;
  #dueSeconds = 0;

  constructor(quotaPerSecond: Rates) {
    this.#quota = quotaPerSecond;
  }

  /** Ratio over whole seconds, about 1 at best plus saved tokens; NaN before anything was due. */
  get ratio(): number {
    return this.#usedSeconds / this.#dueSeconds;
  }

  /** Due so far, in seconds of full quota. */
  get dueSeconds(): number {
    return this.#dueSeconds;
  }

  arrived(bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.#waiting, 1, bytes);
    add(this.#demand, 1, bytes);
  }

  admitted(bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.#admitted, 1, bytes);
    add(this.#waiting, -1, -bytes);
  }

  gaveUp(bytes: number, atMs: number): void {
    this.advance(atMs);
    add(this.#waiting, -1, -bytes);
  }

  /** Ends the steps and seconds that are over. */
  advance(nowMs: number): void {
    while (nowMs >= (this.#steps + 1) * DUE_STEP_MS) {
      this.#steps++;
      this.#dueInSecond += Math.min(1 / STEPS_PER_SECOND, this.#fuller(this.#demand));
      this.#demand.splice(0, 2, ...this.#waiting);
      if (this.#steps % STEPS_PER_SECOND === 0) this.#endSecond();
    }
  }

  #endSecond(): void {
    this.#dueSeconds += this.#dueInSecond;
    this.#usedSeconds += this.#fuller(this.#admitted);
    this.#dueInSecond = 0;
    this.#admitted.fill(0);
  }

  #fuller([messages, bytes]: readonly number[]): number {
    return Math.max(messages / this.#quota[0], bytes / this.#quota[1]);
  }
}

function add(amounts: number[], messages: number, bytes: number): void {
  amounts[0] += messages;
  amounts[1] += bytes;
}
