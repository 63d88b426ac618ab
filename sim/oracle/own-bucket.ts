/** Counts tokens that a process has at least: those since `emptyAt`, within its depth. */
export class OwnBucket {
  #tokens = 0;
  #perSecond = 0;
  #depth = 0;
  #atMs = 0;

  emptyAt(nowMs: number): void {
    this.#atMs = nowMs;
    this.#tokens = 0;
  }

  /** Sets rate and depth from now on. */
  set(perSecond: number, depth: number, nowMs: number): void {
    this.tokensAt(nowMs);
    // Without a limit nothing is refused.
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
