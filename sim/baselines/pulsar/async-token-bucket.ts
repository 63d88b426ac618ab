/** Tokens are added in steps of at least 16 ms, or of the time of one token where that is longer. */
const RESOLUTION_NS = 16_000_000;
const NS_PER_SECOND = 1_000_000_000;
/** A throttled producer waits until the bucket holds this part of its capacity, and at least one token. */
const TARGET_PART = 0.01;

/**
 * Pulsar's AsyncTokenBucket after its corrections of 2025. Its capacity is what the rate gives in one second, and it is
 * full when created. It adds whole tokens and carries the remainder as time. It never refuses: it goes into debt
 * without limit.
 */
export class AsyncTokenBucket {
  readonly rate: number;
  #tokens: number;
  #lastNs: number;
  #remainderNs = 0;

  constructor(rate: number, nowMs: number) {
    this.rate = rate;
    this.#tokens = rate;
    this.#lastNs = nowMs * 1e6;
  }

  /** Takes the amount. Returns whether anything is left: taking exactly the last token throttles already. */
  consume(amount: number, nowMs: number): boolean {
    this.#refill(nowMs);
    this.#tokens -= amount;
    return this.#tokens > 0;
  }

  /** Returns how long a paused producer has to wait; 0 = it may go on. */
  throttlingMs(nowMs: number): number {
    this.#refill(nowMs);
    const needed = Math.max(1, Math.trunc(this.rate * TARGET_PART));
    if (this.#tokens >= needed) return 0;
    return Math.floor(((needed - this.#tokens) * NS_PER_SECOND) / this.rate) / 1e6;
  }

  #refill(nowMs: number): void {
    const elapsedNs = nowMs * 1e6 - this.#lastNs;
    const nsPerToken = NS_PER_SECOND / this.rate;
    const stepNs = nsPerToken <= RESOLUTION_NS ? RESOLUTION_NS : nsPerToken - this.#remainderNs - 1;
    if (elapsedNs <= stepNs) return;
    const creditedNs = elapsedNs + this.#remainderNs;
    const minted = Math.floor((creditedNs * this.rate) / NS_PER_SECOND);
    this.#remainderNs = creditedNs - Math.floor((minted * NS_PER_SECOND) / this.rate);
    this.#lastNs = nowMs * 1e6;
    this.#tokens = Math.min(this.#tokens + minted, this.rate);
  }
}
