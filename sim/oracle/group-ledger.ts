/**
 * What a group may have admitted, in every window of whatever length. With A(t) admitted until t, C(t) = ∫ of the cap,
 * and B(t) what the buckets may hold at t, the promise is
 *
 *     A(t1) − A(t0) ≤ C(t1) − C(t0) + B(t0)        for all t0 < t1
 *
 * and that is A(t1) − C(t1) ≤ the least of A(t0) − C(t0) + B(t0) so far: one comparison per piece of work judges all
 * windows that end with it.
 */
export class GroupLedger {
  /** Tokens per second that may be admitted at the moment. */
  capPerSecond = 0;
  /** What the buckets may hold at the moment. */
  burst = 0;
  admitted = 0;
  /** Where the window begins that allows least now. */
  sinceMs = 0;
  #allowed = 0;
  #atMs = 0;
  #least = Number.POSITIVE_INFINITY;

  /** Goes on to now with the cap in force until now. */
  advance(nowMs: number): void {
    if (nowMs > this.#atMs) this.#allowed += (this.capPerSecond * (nowMs - this.#atMs)) / 1000;
    this.#atMs = nowMs;
  }

  /** From now on; a window may begin here. */
  set(capPerSecond: number, burst: number): void {
    this.capPerSecond = capPerSecond;
    this.burst = burst;
    this.#begin();
  }

  /** Tokens that may be admitted beyond the cap: a process begins to serve the group, and brings a bucket. */
  bring(tokens: number): void {
    this.#allowed += tokens;
  }

  /** Returns the tokens beyond what some window allows; ≤ 0 where the promise is kept. */
  admit(tokens: number, nowMs: number): number {
    this.advance(nowMs);
    this.#begin();
    this.admitted += tokens;
    return this.admitted - this.#allowed - this.#least;
  }

  #begin(): void {
    const begun = this.admitted - this.#allowed + this.burst;
    if (begun > this.#least) return;
    this.#least = begun;
    this.sinceMs = this.#atMs;
  }
}
