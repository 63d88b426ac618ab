/**
 * Tracks the largest amount in any window of `windowMs`. It is exact to a millisecond, by a ring of bins and a running
 * sum. The peak is looked at on additions alone.
 */
export class SlidingPeak {
  peak = 0;
  readonly #bins: Float64Array;
  #nowMs = 0;
  #sum = 0;

  constructor(windowMs: number) {
    this.#bins = new Float64Array(windowMs);
  }

  /** @param atMs milliseconds since the start of the measurement; never goes back */
  add(amount: number, atMs: number): void {
    this.#moveTo(Math.floor(atMs));
    const bin = this.#nowMs % this.#bins.length;
    this.#bins[bin] += amount;
    this.#sum += amount;
    this.peak = Math.max(this.peak, this.#sum);
  }

  #moveTo(toMs: number): void {
    const emptied = Math.min(toMs - this.#nowMs, this.#bins.length);
    for (let step = 1; step <= emptied; step++) {
      const bin = (this.#nowMs + step) % this.#bins.length;
      this.#sum -= this.#bins[bin];
      this.#bins[bin] = 0;
    }
    this.#nowMs = Math.max(this.#nowMs, toMs);
  }
}
