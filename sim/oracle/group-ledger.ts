/**
 * Judges what a group has admitted in every window of whatever length. Let A(t) be what was admitted until t, C(t) the
 * integral of the cap, and B(t) what the buckets may hold at t. The promise is
 *
 *     A(t1) − A(t0) ≤ C(t1) − C(t0) + B(t0)        for all t0 < t1
 *
 * It holds if A(t1) − C(t1) is at most the least of A(t0) − C(t0) + B(t0) so far. So one comparison per piece of work
 * judges all windows that end with it.
 */
export class GroupLedger {
  /** Tokens per second that may be admitted at the moment. */
  capPerSecond = 0;
  /** What the buckets may hold at the moment. */
  burst = 0;
  admitted = 0;
  /** When the window began that allows least now. */
  sinceMs = 0;
  #allowed = 0;
  #atMs = 0;
  #least = Infinity;

  /** Moves on to now, with the cap that was in force until now. */
  advance(nowMs: number): void {
    if (nowMs > this.#atMs) this.#allowed += (this.capPerSecond * (nowMs - this.#atMs)) / 1000;
    this.#atMs = nowMs;
  }

  /** Sets what is in force from now on. A window may begin here. */
  set(capPerSecond: number, burst: number): void {
    this.capPerSecond = capPerSecond;
    this.burst = burst;
    this.#begin();
  }

  /** Allows tokens beyond the cap: a process begins to serve the group, and brings its bucket. */
  bring(tokens: number): void {
    this.#allowed += tokens;
  }

  /** Counts admitted tokens. Returns by how many the worst window exceeds its bound; ≤ 0 if the promise is kept. */
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
