/** Runs callbacks in virtual time, in insertion order at equal times. A binary heap in columns, without allocations. */
export class EventQueue {
  nowMs = 0;
  #atMs = new Float64Array(64);
  #order = new Float64Array(64);
  readonly #run: (() => void)[] = [];
  #size = 0;
  #inserted = 0;

  get nextAtMs(): number {
    return this.#size === 0 ? Infinity : this.#atMs[0];
  }

  at(atMs: number, run: () => void): void {
    const size = this.#size++;
    if (size === this.#atMs.length) this.#grow();
    this.#rise(size, atMs > this.nowMs ? atMs : this.nowMs, this.#inserted++, run);
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.nowMs + delayMs, run);
  }

  runUntil(endMs: number): void {
    while (this.#size > 0 && this.#atMs[0] <= endMs) {
      this.nowMs = this.#atMs[0];
      const run = this.#run[0];
      this.#dropFirst();
      run();
    }
    this.nowMs = endMs;
  }

  #dropFirst(): void {
    const last = --this.#size;
    const run = this.#run.pop() as () => void;
    if (last > 0) this.#sink(this.#atMs[last], this.#order[last], run);
  }

  /** Sifts a callback up; the latest insertion stays behind equals. */
  #rise(from: number, atMs: number, order: number, run: () => void): void {
    const times = this.#atMs;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (times[parent] <= atMs) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, atMs, order, run);
  }

  #sink(atMs: number, order: number, run: () => void): void {
    const size = this.#size;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isBefore(child + 1, this.#atMs[child], this.#order[child])) {
        child++;
      }
      if (!this.#isBefore(child, atMs, order)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, atMs, order, run);
  }

  #isBefore(at: number, atMs: number, order: number): boolean {
    const ownMs = this.#atMs[at];
    return ownMs < atMs || (ownMs === atMs && this.#order[at] < order);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#atMs[from], this.#order[from], this.#run[from]);
  }

  #put(at: number, atMs: number, order: number, run: () => void): void {
    this.#atMs[at] = atMs;
    this.#order[at] = order;
    this.#run[at] = run;
  }

  #grow(): void {
    const [times, orders] = [this.#atMs, this.#order];
    this.#atMs = new Float64Array(2 * times.length);
    this.#order = new Float64Array(2 * times.length);
    this.#atMs.set(times);
    this.#order.set(orders);
  }
}
