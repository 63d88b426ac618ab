/**
 * Samples the costs of a lane with a probability by size: `units` below `size` count as `size` with the probability
 * units / size, larger ones as they are (FoundationDB: COMMIT_SAMPLE_COST). The first `size` units count exactly.
 *
 * The costs of a lane lie one behind the other on a line. Each stretch of `size` units has one point, uniformly
 * distributed, and costs count once for each point that they cover. So the counted sum is right on average for each
 * backend, and never `size` units away from the lane's cost. Independent draws would deviate by √(size × cost),
 * unbounded.
 *
 * *Worked:* size 100: costs of 10 count about every tenth time, as 100; of any twenty of them one to three count.
 */
export class CostSampler {
  #exact: number;
  /** Units within the present stretch. */
  #reached = 0;
  #point: number;
  readonly #size: number;
  readonly #random: () => number;

  /** @param random draws uniformly from [0, 1) */
  constructor(size: number, random: () => number) {
    this.#size = size;
    this.#random = random;
    this.#exact = size;
    this.#point = size * random();
  }

  /** Returns the units to count instead of these. */
  take(units: number): number {
    if (units >= this.#size) return units;
    // A lane whose first costs all missed would seem to cost nothing.
    if (this.#exact > 0) {
      this.#exact -= units;
      return units;
    }
    let counted = this.#pass(Math.min(units, this.#size - this.#reached));
    const rest = this.#reached + units - this.#size;
    if (rest < 0) {
      this.#reached += units;
      return counted;
    }
    this.#reached = 0;
    this.#point = this.#size * this.#random();
    counted += this.#pass(rest);
    this.#reached = rest;
    return counted;
  }

  #pass(units: number): number {
    return this.#reached <= this.#point && this.#point < this.#reached + units ? this.#size : 0;
  }
}
