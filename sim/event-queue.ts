/** Virtual time: callbacks in order of time, then of insertion. A binary heap. */
export class EventQueue {
  nowMs = 0;
  readonly #heap: Planned[] = [];
  #order = 0;

  at(atMs: number, run: () => void): void {
    this.#heap.push({ atMs: Math.max(atMs, this.nowMs), order: this.#order++, run });
    this.#rise(this.#heap.length - 1);
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.nowMs + delayMs, run);
  }

  runUntil(endMs: number): void {
    while (this.#heap.length > 0 && (this.#heap[0]?.atMs ?? 0) <= endMs) {
      const next = this.#take();
      this.nowMs = next.atMs;
      next.run();
    }
    this.nowMs = endMs;
  }

  #take() {
    const heap = this.#heap;
    const first = heap[0] as Planned;
    const last = heap.pop() as Planned;
    if (heap.length > 0) {
      heap[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #isBefore(left: number, right: number): boolean {
    const one = this.#heap[left] as Planned;
    const other = this.#heap[right] as Planned;
    return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      let least = at;
      if (left < this.#heap.length && this.#isBefore(left, least)) least = left;
      if (left + 1 < this.#heap.length && this.#isBefore(left + 1, least)) least = left + 1;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(left: number, right: number): void {
    const kept = this.#heap[left] as Planned;
    this.#heap[left] = this.#heap[right] as Planned;
    this.#heap[right] = kept;
  }
}

interface Planned {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}
