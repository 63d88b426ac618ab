/** What a limit has let in, and what it may: limit × time + burst, for every span of time. */
export class SpanLedger {
  readonly #admitted: { readonly atMs: number; amount: number; readonly asked: number }[] = [];
  readonly #limits: { readonly fromMs: number; readonly perSecond: number }[] = [];
  #burst = 0;

  limited(nowMs: number, perSecond: number, burst: number): void {
    this.#limits.push({ fromMs: nowMs, perSecond });
    this.#burst = Math.max(this.#burst, burst);
  }

  /** The amount may be lowered later: it counts when it was granted, with what was used of it. */
  admitted(nowMs: number, amount: number): { amount: number } {
    const entry = { atMs: nowMs, amount, asked: amount };
    this.#admitted.push(entry);
    return entry;
  }

  get total(): number {
    return this.#admitted.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** By how much the worst span is above what it may be; one piece of work may overdraw a full bucket. */
  get worstExcess(): number {
    let worst = -Infinity;
    const given = this.#admitted.map(({ atMs }) => this.#givenUntil(atMs));
    this.#admitted.forEach((_, from) => {
      let [sum, largest] = [0, 0];
      for (let to = from; to < this.#admitted.length; to++) {
        const { amount, asked } = this.#admitted[to] as { amount: number; asked: number };
        sum += amount;
        largest = Math.max(largest, asked);
        const overdraft = largest > 1 ? largest : 0;
        worst = Math.max(worst, sum - (given[to] - given[from]) - this.#burst - overdraft);
      }
    });
    return worst;
  }

  #givenUntil(nowMs: number): number {
    return this.#limits.reduce((sum, { fromMs, perSecond }, at) => {
      const untilMs = Math.min(nowMs, this.#limits[at + 1]?.fromMs ?? nowMs);
      return sum + (Math.max(0, untilMs - fromMs) * perSecond) / 1000;
    }, 0);
  }
}
