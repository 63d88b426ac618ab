import { OneBucket } from '../../core/limiter/one-bucket.js';
import { type Clock, monotonicClock } from '../../ports/clock.js';

/** So much of the rate at once. */
const DEPTH_SECONDS = 10;

/** A bucket of changes. */
export class ChangeRate {
  readonly #bucket: OneBucket;
  readonly #clock: Clock;

  constructor(perSecond: number, clock: Clock = monotonicClock) {
    this.#clock = clock;
    this.#bucket = new OneBucket(perSecond, perSecond * DEPTH_SECONDS, clock());
  }

  /** 0 = one more is taken; else the milliseconds until one is. */
  take(): number {
    return this.#bucket.take(this.#clock());
  }
}
