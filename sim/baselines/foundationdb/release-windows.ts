import { Smoother } from './smoother.js';

/** Seconds of limit that may be started, less what was. */
const WINDOW_SEC = 2;
/**
 * Seconds of a proxy's round, with MAX_PER_ROUND started in one and MAX_IDLE_BUDGET kept when idle
 * (docs/background/foundationdb-tag-throttling.md, “Handing out”).
 */
const ROUND_SEC = 0.01;
const MAX_PER_ROUND = 100_000;
const MAX_IDLE_BUDGET = 1000;

export interface ReleaseWindow {
  /** @param perSecond transactions per second; Infinity = no limit */
  setLimit(perSecond: number, nowSec: number): void;
  tryStart(nowSec: number): boolean;
}

/** Computes the smoothed limit minus the smoothed starts, over the window. */
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

/** Decides each transaction by itself (client mode); refused ones retry here. */
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
 * Starts per round the allowance, and unused rounds' budget (proxy mode). Refused work waits at its caller, so the
 * queue is empty while nothing is refused.
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

  /** Begins a round; counts rounds without a request together. */
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
