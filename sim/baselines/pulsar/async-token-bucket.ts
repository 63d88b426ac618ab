/** Nanoseconds of a step; if a token takes longer, its time. */
const RESOLUTION_NS = 16_000_000;
const NS_PER_SECOND = 1_000_000_000;
/** Part of capacity that a throttled producer awaits: at least a token. */
const TARGET_PART = 0.01;

/**
 * Models AsyncTokenBucket after 2025: capacity of one second, full at first, whole tokens, remainder as time. It never
 * refuses: its debt has no limit.
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

  /** Takes an amount; false = nothing is left. Whoever takes the last token is throttled. */
  consume(amount: number, nowMs: number): boolean {
    this.#refill(nowMs);
    this.#tokens -= amount;
    return this.#tokens > 0;
  }

  /** Returns for how many milliseconds the producer pauses; 0 = none. */
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
