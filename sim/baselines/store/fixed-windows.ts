import { type BaselineEnvironment, type Quota, rateOf } from '../baseline.js';
import type { Store } from './store-cluster.js';

type PerMs = NonNullable<BaselineEnvironment['quotaPerMs']>;

/** Weight of a request in each window. */
type Counted = (messages: number, bytes: number) => readonly [number, number];

/**
 * Counts fixed windows in a store, per limited dimension. A window begins with the first request after the last's end.
 * Requests count even if refused: two quotas may pass around an end.
 */
export class FixedWindows implements Store {
  readonly #windows: readonly Window[];
  readonly #counted: Counted;

  private constructor(windows: readonly Window[], counted: Counted) {
    this.#windows = windows.filter(({ points }) => points !== Infinity);
    this.#counted = counted;
  }

  /**
   * Models rate-limiter-flexible 11.1 on Redis (lib/RateLimiterRedis.js, `consume`): SET … EX … NX, INCRBY.
   *
   * - Durations are whole seconds, points integers: a refused large request uses up smaller ones' points.
   * - Two limits are two counters, both charged, as in lib/RateLimiterUnion.js.
   *
   * @param perMs the time of each quota: its window
   */
  static ofRateLimiterFlexible(quota: Quota, perMs: PerMs = [SECOND_MS, SECOND_MS]): FixedWindows {
    const windows = ([0, 1] as const).map((of) => new Window(of, rateOf(quota, of), perMs[of]));
    return new FixedWindows(windows, (messages, bytes) => [Math.ceil(messages), Math.ceil(bytes)]);
  }

  /** Models @fastify/rate-limit 11 on Redis (store/RedisStore.js): INCR, PEXPIRE, requests of any weight. */
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
