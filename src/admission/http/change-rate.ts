import { type Clock, monotonicClock } from '../../ports/clock.js';

/** So much of the rate at once. */
const DEPTH_SECONDS = 10;

/** A bucket of changes, full at the start; lazy as those of the limiter. */
export class ChangeRate {
  readonly #perSecond: number;
  readonly #clock: Clock;
  #left: number;
  #atMs: number;

  constructor(perSecond: number, clock: Clock = monotonicClock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#left = perSecond * DEPTH_SECONDS;
    this.#atMs = clock();
  }

  /** 0 = one more is taken; else the milliseconds until one is. */
  take(): number {
    const nowMs = this.#clock();
    const refilled = this.#left + ((nowMs - this.#atMs) * this.#perSecond) / 1000;
    this.#left = Math.min(this.#perSecond * DEPTH_SECONDS, refilled);
    this.#atMs = nowMs;
    if (this.#left < 1) return ((1 - this.#left) * 1000) / this.#perSecond;
    this.#left--;
    return 0;
  }
}
