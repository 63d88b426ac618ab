/** An exact token bucket, full at first. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #depth: number;
  #tokens: number;
  #atMs = 0;

  constructor(perSecond: number, depth: number) {
    this.#perMs = perSecond / 1000;
    this.#depth = depth;
    this.#tokens = depth;
  }

  take(nowMs: number): boolean {
    this.#tokens = Math.min(this.#depth, this.#tokens + Math.max(0, nowMs - this.#atMs) * this.#perMs);
    this.#atMs = Math.max(nowMs, this.#atMs);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
