import { decay } from '../base/decay.js';
import { YOUNGEST_MS } from './constants/constants.js';

/**
 * Smooths the rate of a count exponentially:
 *
 *     rate = Σ amountᵢ · e^(−ageᵢ/τ) / τ
 *
 * *Worked:* τ = 10 s: 100 counted at once → 10/s; after 10 s 3.68/s; 10/s counted steadily → 6.3/s after 10 s, 10/s in
 * the end. With `ageMs` those read 10/s from the first second on: counts of one second are divided by that second's
 * weight.
 * *Why:* FoundationDB's smoother keeps a total X and an estimate E (after Δ E += (X − E)(1 − e^(−Δ/τ)), rate = (X −
 * E)/τ). X − E alone is enough, and no total grows for ever.
 */
export class SmoothedRate {
  #pending = 0;
  #atMs = 0;

  count(amount: number, nowMs: number, tauMs: number): void {
    this.#pending = this.#pendingAt(nowMs, tauMs) + amount;
    this.#atMs = nowMs;
  }

  /** Returns the smoothed count per second. @param ageMs time of counting so far; Infinity = always */
  rate(nowMs: number, tauMs: number, ageMs = Infinity): number {
    const weight = 1 - decay(Math.max(YOUNGEST_MS, ageMs) / tauMs);
    return (this.#pendingAt(nowMs, tauMs) * 1000) / (tauMs * weight);
  }

  #pendingAt(nowMs: number, tauMs: number): number {
    return this.#pending * decay(Math.max(0, nowMs - this.#atMs) / tauMs);
  }
}
