const FIRST_MS = 100;
/** Milliseconds at most, half of a recovery's; an attempt is a connection and three requests. */
const LONGEST_MS = 1_000;
/** Part ±: a hundred nodes must not come back in step. */
const JITTER_RATIO = 0.2;

/** Returns the wait before the next attempt. */
export class Backoff {
  #nextMs = FIRST_MS;

  next(): number {
    const waitMs = this.#nextMs;
    this.#nextMs = Math.min(2 * waitMs, LONGEST_MS);
    return waitMs * (1 - JITTER_RATIO + 2 * JITTER_RATIO * Math.random());
  }

  reset(): void {
    this.#nextMs = FIRST_MS;
  }
}
