import { Smoother } from './smoother.js';

/** Seconds whose limit may be started, less what has been. */
const WINDOW_SEC = 2;
/**
 * Seconds of a proxy's round. It starts MAX_PER_ROUND in one, and keeps MAX_IDLE_BUDGET when idle
 * (docs/background/foundationdb-tag-throttling.md, “Handing out”).
 */
const ROUND_SEC = 0.01;
const MAX_PER_ROUND = 100_000;
const MAX_IDLE_BUDGET = 1000;

/** Allows the smoothed limit minus the smoothed starts, over the window. */
export abstract class ReleaseWindow {
  protected isLimited = false;
  readonly #limit = new Smoother(WINDOW_SEC);
  readonly #starts = new Smoother(WINDOW_SEC);

  abstract tryStart(nowSec: number): boolean;

  /** @param perSecond transactions per second; Infinity = no limit */
  setLimit(perSecond: number, nowSec: number): void {
    const wasLimited = this.isLimited;
    this.isLimited = perSecond !== Infinity;
    if (this.isLimited && wasLimited) this.#limit.set(perSecond, nowSec);
    else if (this.isLimited) this.#limit.reset(perSecond, nowSec);
  }

  protected count(started: number, nowSec: number): void {
    this.#starts.add(started, nowSec);
  }

  protected allowanceAt(nowSec: number): number {
    return WINDOW_SEC * (this.#limit.estimate(nowSec) - this.#starts.rate(nowSec));
  }
}

/** Decides each transaction by itself (client mode); refused ones retry here. */
export class ClientWindow extends ReleaseWindow {
  tryStart(nowSec: number): boolean {
    if (this.isLimited && this.allowanceAt(nowSec) < 1) return false;
    this.count(1, nowSec);
    return true;
  }
}

/**
 * Starts in each round what is allowed and was saved (proxy mode). Refused work waits at its caller, so the
 * queue is empty while nothing is refused.
 */
export class ProxyWindow extends ReleaseWindow {
  #budget = 0;
  #round = 0;
  #started = 0;
  #allowed = 0;
  #isQueueEmpty = true;

  tryStart(nowSec: number): boolean {
    if (!this.isLimited) {
      this.count(1, nowSec);
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
    this.#allowed = this.allowanceAt(nowSec);
    if (idleSec > 0) this.#endRound(idleSec, nowSec);
    this.#round = round;
  }

  #endRound(elapsedSec: number, nowSec: number): void {
    this.#budget = Math.max(0, this.#budget + (elapsedSec * (this.#allowed - this.#started)) / WINDOW_SEC);
    if (this.#isQueueEmpty) this.#budget = Math.min(this.#budget, MAX_IDLE_BUDGET);
    this.count(this.#started, nowSec);
    this.#started = 0;
    this.#isQueueEmpty = true;
  }
}
