import { HoltSmoother, Smoother } from './smoother.js';

/** Time constants of release 7.4 in seconds: count and trend, cost, target, rate per client. */
const COUNT_TAU_SEC = 2;
const COUNT_TREND_TAU_SEC = 10;
const COST_TAU_SEC = 10;
const TARGET_TAU_SEC = 10;
/** Rate below which there is neither average nor limit; least limit. */
const MIN_RATE_TPS = 1;

/**
 * Computes limits as release 7.4's ratekeeper. Target = desired = quota ÷ average cost: backends never saturate here.
 * Messages and bytes each have a quota, the tighter counts. FoundationDB has only bytes, rounded to pages and sampled
 * at 1 %; here neither, in its favour.
 */
export class TagRates {
  readonly #transactions = new HoltSmoother(COUNT_TAU_SEC, COUNT_TREND_TAU_SEC);
  readonly #costRates = [new Smoother(COST_TAU_SEC), new Smoother(COST_TAU_SEC)] as const;
  readonly #perClient = new Smoother(TARGET_TAU_SEC);
  readonly #smoothTarget = new Smoother(TARGET_TAU_SEC);

  addTransactions(count: number, nowSec: number): void {
    this.#transactions.add(count, nowSec);
  }

  /** @param perSecond units per second over the last interval */
  setCostRates(perSecond: readonly [number, number], nowSec: number): void {
    this.#costRates[0].set(perSecond[0], nowSec);
    this.#costRates[1].set(perSecond[1], nowSec);
  }

  /** Returns mean units of a transaction, at least one. */
  averageCost(dimension: 0 | 1, nowSec: number): number {
    const rate = Math.max(MIN_RATE_TPS, this.#transactions.rate(nowSec));
    return Math.max(1, this.#costRates[dimension].estimate(nowSec) / rate);
  }

  /** Returns transactions/s of all nodes; null = undefined. */
  target(quotas: readonly [number, number], nowSec: number): number | null {
    if (this.#transactions.rate(nowSec) < MIN_RATE_TPS) return null;
    return Math.min(quotas[0] / this.averageCost(0, nowSec), quotas[1] / this.averageCost(1, nowSec));
  }

  /**
   * Returns the limit of every client (client mode). It moves until starts meet the target. *Worked:* demands 5 and 25,
   * target 20 → 15. Infinity = no limit.
   */
  clientLimit(quotas: readonly [number, number], nowSec: number): number {
    const target = this.target(quotas, nowSec);
    if (target === null || target === Infinity) return Infinity;
    const moved = (target / this.#transactions.rate(nowSec)) * this.#perClient.estimate(nowSec);
    this.#perClient.set(Math.max(MIN_RATE_TPS, Math.min(target, moved)), nowSec);
    return Math.max(MIN_RATE_TPS, this.#perClient.estimate(nowSec));
  }

  /** Returns an equal part of the smoothed target (proxy mode). */
  proxyLimit(quotas: readonly [number, number], proxies: number, nowSec: number): number {
    const target = this.target(quotas, nowSec);
    if (target === null || target === Infinity) return Infinity;
    this.#smoothTarget.set(target, nowSec);
    return Math.max(MIN_RATE_TPS, this.#smoothTarget.estimate(nowSec) / proxies);
  }
}
