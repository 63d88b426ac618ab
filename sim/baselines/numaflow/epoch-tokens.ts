export type RampMode = 'relaxed' | 'scheduled';

export interface RampSettings {
  readonly mode: RampMode;
  /** Tokens/s of the pool, at boot and at the ramp's top. */
  readonly min: number;
  readonly max: number;
  readonly rampSec: number;
}

/**
 * Keeps one pod's tokens: each wall-clock second is a window, in whole equal parts. *Worked:* 15 tokens for 2 are 7
 * each; below the pool size nobody gets any.
 */
export class EpochTokens {
  readonly #settings: RampSettings;
  readonly #slope: number;
  #ceiling: number;
  #tokens: number;
  /** Last second served. From 0, the first refill comes decades later, and a scheduled ramp jumps to max. */
  #epoch = 0;

  constructor(settings: RampSettings) {
    this.#settings = settings;
    this.#slope = (settings.max - settings.min) / settings.rampSec;
    this.#ceiling = settings.min;
    this.#tokens = Math.trunc(settings.min);
  }

  /** Returns the tokens for a request now. */
  available(pool: number, epoch: number): number {
    if (epoch > this.#epoch) this.#refill(epoch);
    return Math.floor(this.#tokens / Math.max(pool, 1));
  }

  take(amount: number, pool: number): void {
    this.#tokens -= amount * Math.max(pool, 1);
  }

  /** Returns unread tokens; as shipped the batch less the read, not the grant less it. */
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
