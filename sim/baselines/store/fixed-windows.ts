import { type Quota, rateOf } from '../baseline.js';
import type { Store } from './store-cluster.js';

/**
 * The counter of rate-limiter-flexible 11.1 on Redis (lib/RateLimiterRedis.js, `consume`), one for each limited
 * dimension:
 *
 * - A window begins with the first request after the one before has ended (SET … EX … NX), not at a full second.
 * - A request adds its points whether it is admitted or not (INCRBY), and is refused if the sum is above the
 *   window's. So a large request that is refused uses up what smaller ones after it could have had.
 * - Durations are whole seconds, points of a request are integers.
 * - Two limits are two counters that are asked at once and both charged, as lib/RateLimiterUnion.js does: a request
 *   that one of them refuses counts in the other.
 *
 * Up to two quotas pass within an instant around the end of a window.
 */
export class FixedWindows implements Store {
  readonly #windows: readonly Window[];

  constructor(quota: Quota) {
    this.#windows = ([0, 1] as const)
      .map((dimension) => new Window(dimension, rateOf(quota, dimension)))
      .filter(({ points }) => points !== Number.POSITIVE_INFINITY);
  }

  get questions(): number {
    return this.#windows.length;
  }

  take(messages: number, bytes: number, nowMs: number): boolean {
    const amounts = [messages, bytes] as const;
    let isAdmitted = true;
    for (const window of this.#windows) {
      if (!window.consume(Math.ceil(amounts[window.dimension]), nowMs)) isAdmitted = false;
    }
    return isAdmitted;
  }
}

class Window {
  readonly dimension: 0 | 1;
  readonly points: number;
  readonly #durationMs: number;
  #consumed = 0;
  #endsMs = Number.NEGATIVE_INFINITY;

  constructor(dimension: 0 | 1, perSecond: number) {
    this.dimension = dimension;
    // A window lasts one second, or as many as one piece needs.
    const seconds = perSecond > 0 ? Math.max(1, Math.ceil(1 / perSecond)) : 1;
    this.points = perSecond * seconds;
    this.#durationMs = seconds * 1000;
  }

  consume(points: number, nowMs: number): boolean {
    if (nowMs >= this.#endsMs) {
      this.#consumed = 0;
      this.#endsMs = nowMs + this.#durationMs;
    }
    this.#consumed += points;
    return this.#consumed <= this.points;
  }
}
