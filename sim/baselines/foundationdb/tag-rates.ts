import { HoltSmoother, Smoother } from './smoother.js';

/**
 * The time constants of release 7.4, in seconds: for the count and its trend, the cost, the target and the rate per
 * client.
 */
const COUNT_TAU_SEC = 2;
const COUNT_TREND_TAU_SEC = 10;
const COST_TAU_SEC = 10;
const TARGET_TAU_SEC = 10;
/** Below this rate the average cost is undefined, and no limit is published. No limit is ever below it. */
const MIN_RATE_TPS = 1;

/**
 * What the ratekeeper of release 7.4 makes of one tag's transactions and their cost. Backends are never saturated here,
 * so target = desired = quota ÷ average cost.
 *
 * The cost has two dimensions here, messages and bytes, each with its quota, and the tighter one counts. FoundationDB
 * knows only bytes, rounded up to pages, and samples them at 1 %. Here costs are neither rounded nor sampled, which
 * favours FoundationDB.
 */
export class TagRates {
  readonly #transactions = new HoltSmoother(COUNT_TAU_SEC, COUNT_TREND_TAU_SEC);
  readonly #costRates = [new Smoother(COST_TAU_SEC), new Smoother(COST_TAU_SEC)] as const;
  readonly #perClient = new Smoother(TARGET_TAU_SEC);
  readonly #smoothTarget = new Smoother(TARGET_TAU_SEC);

  addTransactions(count: number, nowSec: number): void {
    this.#transactions.add(count, nowSec);
  }

  /** @param perSecond units per second, as measured over the last interval */
  setCostRates(perSecond: readonly [number, number], nowSec: number): void {
    this.#costRates[0].set(perSecond[0], nowSec);
    this.#costRates[1].set(perSecond[1], nowSec);
  }

  /** Returns the mean units of a transaction. It is one at least, because that is the least that can be charged. */
  averageCost(dimension: 0 | 1, nowSec: number): number {
    const rate = Math.max(MIN_RATE_TPS, this.#transactions.rate(nowSec));
    return Math.max(1, this.#costRates[dimension].estimate(nowSec) / rate);
  }

  /** Returns the transactions per second for all nodes together; null = undefined, so nothing is published. */
  target(quotas: readonly [number, number], nowSec: number): number | null {
    if (this.#transactions.rate(nowSec) < MIN_RATE_TPS) return null;
    return Math.min(quotas[0] / this.averageCost(0, nowSec), quotas[1] / this.averageCost(1, nowSec));
  }

  /**
   * Client mode: returns one limit for every client. It moves until what is started meets the target: with demands of 5
   * and 25 and a target of 20 it becomes 15. Infinity = no limit.
   */
  clientLimit(quotas: readonly [number, number], nowSec: number): number {
    const target = this.target(quotas, nowSec);
    if (target === null || target === Infinity) return Infinity;
    const moved = (target / this.#transactions.rate(nowSec)) * this.#perClient.estimate(nowSec);
    this.#perClient.set(Math.max(MIN_RATE_TPS, Math.min(target, moved)), nowSec);
    return Math.max(MIN_RATE_TPS, this.#perClient.estimate(nowSec));
  }

  /** Proxy mode: returns an equal part of the smoothed target, whatever a proxy is asked for. */
  proxyLimit(quotas: readonly [number, number], proxies: number, nowSec: number): number {
    const target = this.target(quotas, nowSec);
    if (target === null || target === Infinity) return Infinity;
    this.#smoothTarget.set(target, nowSec);
    return Math.max(MIN_RATE_TPS, this.#smoothTarget.estimate(nowSec) / proxies);
  }
}
