export type RampMode = 'relaxed' | 'scheduled';

export interface RampSettings {
  readonly mode: RampMode;
  /** `min` and `max` are tokens per second of the whole pool, at boot and at the top of the ramp. */
  readonly min: number;
  readonly max: number;
  readonly rampSec: number;
}

/**
 * The tokens of one pod. Each second of the wall clock is a window: nothing is carried over, and whole tokens are
 * divided in equal parts. 15 tokens for a pool of 2 are 7 each; a limit below the pool size gives nobody anything.
 */
export class EpochTokens {
  readonly #settings: RampSettings;
  readonly #slope: number;
  #ceiling: number;
  #tokens: number;
  /**
   * The last second served. It starts at 0, so the first refill comes decades later, and a scheduled ramp jumps to max.
   */
  #epoch = 0;

  constructor(settings: RampSettings) {
    this.#settings = settings;
    this.#slope = (settings.max - settings.min) / settings.rampSec;
    this.#ceiling = settings.min;
    this.#tokens = Math.trunc(settings.min);
  }

  /** Returns how many tokens a request could get now. */
  available(pool: number, epoch: number): number {
    if (epoch > this.#epoch) this.#refill(epoch);
    return Math.floor(this.#tokens / Math.max(pool, 1));
  }

  take(amount: number, pool: number): void {
    this.#tokens -= amount * Math.max(pool, 1);
  }

  /**
   * Puts back what a reader returns. As shipped that is the batch less what was read, instead of the grant less what
   * was read (docs/background/numaflow-throttling.md, “Tokens”).
   */
  deposit(amount: number, pool: number, epoch: number): void {
    if (epoch === this.#epoch) this.#tokens += amount * Math.max(pool, 1);
  }

  #refill(epoch: number): void {
    const { mode, max } = this.#settings;
    const steps = mode === 'scheduled' ? epoch - this.#epoch : 1;
    this.#ceiling = Math.min(max, this.#ceiling + this.#slope * steps);
    this.#tokens = Math.trunc(this.#ceiling);
    this.#epoch = epoch;
  }
}
