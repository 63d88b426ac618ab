import { decay } from '../base/decay.js';

/**
 * The rate of something counted, smoothed exponentially (FoundationDB's smoother: total X, estimate E, after Δ
 * E += (X − E)(1 − e^(−Δ/τ)), rate = (X − E)/τ). X − E is all that is needed: it grows with what is counted and decays
 * in between, so that no total grows for ever.
 *
 *     rate = Σ amountᵢ · e^(−ageᵢ/τ) / τ
 *
 * Worked, τ = 10 s: 100 counted at once → 10/s; after 10 s 3.68/s; 10/s counted steadily → 6.3/s after 10 s, 10/s in
 * the end. `ageMs` in `rate` takes that slow start away: what has been counted for one second only is divided by the
 * weight of one second, so 10/s counted steadily read 10/s from then on.
 */
export class SmoothedRate {
  #pending = 0;
  #atMs = 0;

  count(amount: number, nowMs: number, tauMs: number): void {
    this.#pending = this.#pendingAt(nowMs, tauMs) + amount;
    this.#atMs = nowMs;
  }

  /** Per second. @param ageMs since when it has been counted; Infinity = always */
  rate(nowMs: number, tauMs: number, ageMs = Infinity): number {
    const weight = 1 - decay(Math.max(YOUNGEST_MS, ageMs) / tauMs);
    return (this.#pendingAt(nowMs, tauMs) * 1000) / (tauMs * weight);
  }

  #pendingAt(nowMs: number, tauMs: number): number {
    return this.#pending * decay(Math.max(0, nowMs - this.#atMs) / tauMs);
  }
}

/** The first piece of work counts as one per second, because no time has passed yet. */
const YOUNGEST_MS = 1000;
