import { type Clock, monotonicClock } from '../../../base/ports/clock.js';
import { OneBucket } from '../../../core/limiter/one-bucket.js';

/** After a pause, the changes of so many seconds may come at once. */
const DEPTH_SECONDS = 10;

/** Bounds how many changes are taken per second. */
export class ChangeRate {
  readonly #bucket: OneBucket;
  readonly #clock: Clock;

  constructor(perSecond: number, clock: Clock = monotonicClock) {
    this.#clock = clock;
    this.#bucket = new OneBucket(perSecond, perSecond * DEPTH_SECONDS, clock());
  }

  /** Returns 0 if one more change is taken, else the milliseconds until one may be. */
  take(): number {
    return this.#bucket.take(this.#clock());
  }
}
