/** Takes tokens as one central bucket would: the judge of strict buckets, and apart from their code. */
export class CentralBucket {
  /** Units of 1 / perMs token. */
  level: number;
  #amount: number;
  #depth: number;
  #nowMs = 0;
  readonly #perMs: number;

  constructor({ amount, perMs, depth }: { amount: number; perMs: number; depth: number }) {
    this.#amount = amount;
    this.#perMs = perMs;
    this.#depth = depth * perMs;
    this.level = this.#depth;
  }

  /** Takes tokens at this time whatever is there; returns the units that were missing. */
  force(tokens: number, nowMs: number): number {
    this.#flow(nowMs);
    this.level -= tokens * this.#perMs;
    return Math.max(0, -this.level);
  }

  /** Takes tokens if they are there. */
  take(tokens: number, nowMs: number): boolean {
    this.#flow(nowMs);
    if (this.level < tokens * this.#perMs) return false;
    this.level -= tokens * this.#perMs;
    return true;
  }

  change(amount: number, depth: number, nowMs: number): void {
    this.#flow(nowMs);
    this.#amount = amount;
    this.#depth = depth * this.#perMs;
    this.level = Math.min(this.level, this.#depth);
  }

  #flow(nowMs: number): void {
    this.level = Math.min(this.#depth, this.level + this.#amount * (nowMs - this.#nowMs));
    this.#nowMs = nowMs;
  }
}
