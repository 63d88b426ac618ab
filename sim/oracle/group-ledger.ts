/**
 * Judges a group's admissions in every window. With A(t) admitted, C(t) the cap's integral and B(t) the buckets'
 * content:
 *
 *     A(t1) − A(t0) ≤ C(t1) − C(t0) + B(t0)        for all t0 < t1
 *
 * It holds if A(t1) − C(t1) is at most the least A(t0) − C(t0) + B(t0) so far: one comparison per piece of work.
 */
export class GroupLedger {
  /** Tokens/s that may be admitted now. */
  capPerSecond = 0;
  /** Tokens that the buckets may hold now. */
  burst = 0;
  admitted = 0;
  /** Begin of the window that allows least. */
  sinceMs = 0;
  #allowed = 0;
  #atMs = 0;
  #least = Infinity;

  /** Moves on to now under the cap so far. */
  advance(nowMs: number): void {
    if (nowMs > this.#atMs) this.#allowed += (this.capPerSecond * (nowMs - this.#atMs)) / 1000;
    this.#atMs = nowMs;
  }

  set(capPerSecond: number, burst: number): void {
    this.capPerSecond = capPerSecond;
    this.burst = burst;
    this.#begin();
  }

  /** Allows tokens beyond the cap: a process brings its bucket. */
  bring(tokens: number): void {
    this.#allowed += tokens;
  }

  /** Counts admissions; returns the worst window's excess, ≤ 0 = kept. */
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
