import { type Clock, monotonicClock } from '../../../base/ports/clock.js';
import { OneBucket } from '../../../core/limiter/one-bucket.js';

/** Seconds whose changes may come at once after a pause. */
const DEPTH_SECONDS = 10;

/** Bounds the changes taken per second. */
export class ChangeRate {
  readonly #bucket: OneBucket;
  readonly #clock: Clock;

  constructor(perSecond: number, clock: Clock = monotonicClock) {
    this.#clock = clock;
    this.#bucket = new OneBucket(perSecond, perSecond * DEPTH_SECONDS, clock());
  }

  /** Takes one change: returns 0, or milliseconds until one may be. */
  take(): number {
    return this.#bucket.take(this.#clock());
  }
}
