/**
 * The tokens that a process must have at least: those that its limits have brought since `emptyAt`, as far as its
 * depth had room for them. What it had before is not counted, so the real bucket may hold more, and never less.
 */
export class OwnBucket {
  #tokens = 0;
  #perSecond = 0;
  #depth = 0;
  #atMs = 0;

  emptyAt(nowMs: number): void {
    this.#atMs = nowMs;
    this.#tokens = 0;
  }

  /** Sets what is in force from now on. */
  set(perSecond: number, depth: number, nowMs: number): void {
    this.tokensAt(nowMs);
    // Where nothing limits, nothing is refused.
    this.#perSecond = perSecond === Infinity ? 0 : perSecond;
    this.#depth = depth;
    this.#tokens = Math.min(this.#tokens, depth);
  }

  tokensAt(nowMs: number): number {
    this.#tokens = Math.min(this.#depth, this.#tokens + (this.#perSecond * (nowMs - this.#atMs)) / 1000);
    this.#atMs = nowMs;
    return this.#tokens;
  }

  take(tokens: number, nowMs: number): void {
    this.#tokens = Math.max(0, this.tokensAt(nowMs) - tokens);
  }
}
