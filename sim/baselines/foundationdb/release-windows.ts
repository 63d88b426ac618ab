import { Smoother } from './smoother.js';

/** A client or proxy may start what the limit grants in 2 s, less what it has started. */
const WINDOW_SEC = 2;
/**
 * A proxy decides in rounds of about 10 ms. MAX_PER_ROUND bounds what it starts in one round, MAX_IDLE_BUDGET what it
 * keeps when idle (docs/background/foundationdb-tag-throttling.md, “Handing out”).
 */
const ROUND_SEC = 0.01;
const MAX_PER_ROUND = 100_000;
const MAX_IDLE_BUDGET = 1000;

export interface ReleaseWindow {
  /** @param perSecond transactions per second; Infinity = no limit */
  setLimit(perSecond: number, nowSec: number): void;
  tryStart(nowSec: number): boolean;
}

/** The smoothed limit minus the smoothed rate of starts, over the window. */
class Allowance {
  readonly #limit = new Smoother(WINDOW_SEC);
  readonly #started = new Smoother(WINDOW_SEC);
  isLimited = false;

  setLimit(perSecond: number, nowSec: number): void {
    const wasLimited = this.isLimited;
    this.isLimited = perSecond !== Infinity;
    if (this.isLimited && wasLimited) this.#limit.set(perSecond, nowSec);
    else if (this.isLimited) this.#limit.reset(perSecond, nowSec);
  }

  count(started: number, nowSec: number): void {
    this.#started.add(started, nowSec);
  }

  at(nowSec: number): number {
    return WINDOW_SEC * (this.#limit.estimate(nowSec) - this.#started.rate(nowSec));
  }
}

/**
 * Client mode: each transaction is decided by itself. In FoundationDB a refused one would wait at the client; here it
 * asks again.
 */
export class ClientWindow implements ReleaseWindow {
  readonly #allowance = new Allowance();

  setLimit(perSecond: number, nowSec: number): void {
    this.#allowance.setLimit(perSecond, nowSec);
  }

  tryStart(nowSec: number): boolean {
    if (this.#allowance.isLimited && this.#allowance.at(nowSec) < 1) return false;
    this.#allowance.count(1, nowSec);
    return true;
  }
}

/**
 * Proxy mode: in each round a proxy may start the allowance, and a budget that rounds leave which did not use theirs.
 * Refused work waits at whoever asked and not in the proxy, so the proxy's queue counts as empty while nothing is
 * refused.
 */
export class ProxyWindow implements ReleaseWindow {
  readonly #allowance = new Allowance();
  #budget = 0;
  #round = 0;
  #started = 0;
  #allowed = 0;
  #isQueueEmpty = true;

  setLimit(perSecond: number, nowSec: number): void {
    this.#allowance.setLimit(perSecond, nowSec);
  }

  tryStart(nowSec: number): boolean {
    if (!this.#allowance.isLimited) {
      this.#allowance.count(1, nowSec);
      return true;
    }
    const round = Math.floor(nowSec / ROUND_SEC);
    if (round !== this.#round) this.#begin(round, nowSec);
    if (this.#started + 1 > Math.min(this.#allowed + this.#budget, MAX_PER_ROUND)) {
      this.#isQueueEmpty = false;
      return false;
    }
    this.#started++;
    return true;
  }

  /** Begins a round. Rounds without a request are counted together, because nothing was started in them. */
  #begin(round: number, nowSec: number): void {
    this.#endRound(ROUND_SEC, nowSec);
    const idleSec = (round - this.#round - 1) * ROUND_SEC;
    this.#allowed = this.#allowance.at(nowSec);
    if (idleSec > 0) this.#endRound(idleSec, nowSec);
    this.#round = round;
  }

  #endRound(elapsedSec: number, nowSec: number): void {
    this.#budget = Math.max(0, this.#budget + (elapsedSec * (this.#allowed - this.#started)) / WINDOW_SEC);
    if (this.#isQueueEmpty) this.#budget = Math.min(this.#budget, MAX_IDLE_BUDGET);
    this.#allowance.count(this.#started, nowSec);
    this.#started = 0;
    this.#isQueueEmpty = true;
  }
}
