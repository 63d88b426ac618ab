import type { Rates } from '../../../core/base/vocabulary.js';

/** The time that buckets hold, and more: finer than this, quota is borrowed from a moment ago. */
const DUE_STEP_MS = 100;
const STEPS_PER_SECOND = 10;

/**
 * Utilisation of min(quota, demand):
 *
 *     due  = Σ over steps of 100 ms of min(quota · 100 ms, what arrived in the step + what was waiting when it began)
 *     used = Σ over whole seconds of what was admitted
 *     utilisation = used ÷ due
 *
 * Both are parts of the quota, of the fuller dimension: messages and bytes limit the same work, so where one is used up no more of the
 * other can pass. Work that waits is demand again in each step: quota left unused while somebody waits is lost and never made up for.
 * What is admitted is added up over seconds because the fuller dimension of each small step would flatter: a step of few large
 * messages and one of many small ones each look full. An ideal limiter measures 100 % ± 1 (test/unit/demo/utilisation.test.ts).
 *
 * Worked: quota 300/s; 30 wait throughout, 24 are admitted in each 100 ms → 80 %.
 */
export class Utilisation {
  readonly #quota: Rates;
  readonly #waiting = [0, 0];
  /** What was wanted in the step under way. */
  readonly #demand = [0, 0];
  /** What was admitted in the second under way. */
  readonly #admitted = [0, 0];
  #dueInSecond = 0;
  #steps = 0;
  #usedSeconds = 0;
  #dueSeconds = 0;

  constructor(quotaPerSecond: Rates) {
    this.#quota = quotaPerSecond;
  }

  /** Whole seconds only; about 1 at best, above it by what buckets had saved up; NaN before anything was due. */
  get ratio(): number {
    return this.#usedSeconds / this.#dueSeconds;
  }

  /** Due so far, in seconds of full quota. */
  get dueSeconds(): number {
    return this.#dueSeconds;
  }

  /** Times are milliseconds since the start of the measurement, never going back. */
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
