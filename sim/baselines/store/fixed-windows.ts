import { type BaselineEnvironment, type Quota, rateOf } from '../baseline.js';
import type { Store } from './store-cluster.js';

type PerMs = NonNullable<BaselineEnvironment['quotaPerMs']>;

/** Counts a request in each window. */
type Counted = (messages: number, bytes: number) => readonly [number, number];

/**
 * Counters of fixed windows in a store, one for each limited dimension. A window begins with the first request after
 * the one before has ended, not at a full second; a request counts whether it is admitted or not, and is refused if the
 * sum is above the window's. Up to two quotas pass within an instant around the end of a window.
 */
export class FixedWindows implements Store {
  readonly #windows: readonly Window[];
  readonly #counted: Counted;

  private constructor(windows: readonly Window[], counted: Counted) {
    this.#windows = windows.filter(({ points }) => points !== Infinity);
    this.#counted = counted;
  }

  /**
   * rate-limiter-flexible 11.1 on Redis (lib/RateLimiterRedis.js, `consume`): SET … EX … NX, INCRBY.
   *
   * - Durations are whole seconds, points of a request are integers: a large request that is refused uses up what
   *   smaller ones after it could have had.
   * - Two limits are two counters that are asked at once and both charged, as lib/RateLimiterUnion.js does.
   *
   * @param perMs the time that each quota is told per: its window
   */
  static ofRateLimiterFlexible(quota: Quota, perMs: PerMs = [SECOND_MS, SECOND_MS]): FixedWindows {
    const windows = ([0, 1] as const).map((of) => new Window(of, rateOf(quota, of), perMs[of]));
    return new FixedWindows(windows, (messages, bytes) => [Math.ceil(messages), Math.ceil(bytes)]);
  }

  /** @fastify/rate-limit 11 on Redis (store/RedisStore.js): INCR, PEXPIRE. It counts requests, whatever they weigh. */
  static ofFastifyRateLimit(quota: Quota, [perMs]: PerMs = [SECOND_MS, SECOND_MS]): FixedWindows {
    return new FixedWindows([new Window(0, rateOf(quota, 0), perMs)], () => [1, 0]);
  }

  get questions(): number {
    return this.#windows.length;
  }

  take(messages: number, bytes: number, nowMs: number): boolean {
    const counted = this.#counted(messages, bytes);
    let isAdmitted = true;
    for (const window of this.#windows) {
      if (!window.consume(counted[window.dimension], nowMs)) isAdmitted = false;
    }
    return isAdmitted;
  }
}

const SECOND_MS = 1000;

class Window {
  readonly dimension: 0 | 1;
  readonly points: number;
  readonly #durationMs: number;
  #consumed = 0;
  #endsMs = -Infinity;

  constructor(dimension: 0 | 1, perSecond: number, perMs: number) {
    this.dimension = dimension;
    const isEnough = perSecond * perMs >= SECOND_MS || perSecond === 0;
    // As many whole seconds as one piece needs, where the window has less.
    const seconds = isEnough ? perMs / SECOND_MS : Math.ceil(1 / perSecond);
    // Twelve digits: 600/h · 3600 is a little less than 600.
    this.points = Number((perSecond * seconds).toPrecision(12));
    this.#durationMs = seconds * SECOND_MS;
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
