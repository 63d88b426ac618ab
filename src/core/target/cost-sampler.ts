/**
 * Picks which costs of a lane are counted, with a probability by their size: `units` of less than `size` count as
 * `size` with the probability units / size, larger ones as they are (FoundationDB: COMMIT_SAMPLE_COST).
 *
 * The costs of a lane lie one behind the other on a line, and each stretch of `size` units has one point, anywhere on
 * it with the same probability. Costs count once for each point that they cover. So what has been counted is right on
 * average, for each backend by itself, and never `size` units away from what a lane has cost. Draws that do not know of
 * each other would be as right on average, and √(size × cost) units away by one standard deviation, without a bound.
 *
 * Worked, size 100: costs of 10 count about every tenth time, as 100, and of any twenty of them one to three count.
 */
export class CostSampler {
  #exact: number;
  /** Within the stretch of now. */
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

  /** The units that are to be counted in the stead of these. */
  take(units: number): number {
    if (units >= this.#size) return units;
    // A lane whose first costs all missed would be taken for one that costs nothing.
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
