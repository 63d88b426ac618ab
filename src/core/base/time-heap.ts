/** Orders items by due time, in a binary heap: each of 100,000 takes 17 steps. */
export class TimeHeap<Item> {
  readonly #times: number[] = [];
  readonly #items: Item[] = [];

  get size(): number {
    return this.#times.length;
  }

  /** Earliest due time; Infinity = no items. */
  get nextMs(): number {
    return this.#times[0] ?? Infinity;
  }

  push(atMs: number, item: Item): void {
    let at = this.#times.length;
    this.#times.push(atMs);
    this.#items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#times[above] <= atMs) break;
      this.#swap(at, above);
      at = above;
    }
  }

  /** Takes the earliest item; undefined = none. */
  pop(): Item | undefined {
    const last = this.#times.length - 1;
    if (last < 0) return undefined;
    this.#swap(0, last);
    this.#times.pop();
    const item = this.#items.pop();
    this.#sink();
    return item;
  }

  /** Drops the items for which `isKept` is false. */
  keep(isKept: (item: Item) => boolean): void {
    const times = this.#times.splice(0);
    const items = this.#items.splice(0);
    items.forEach((item, at) => {
      if (isKept(item)) this.push(times[at], item);
    });
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < this.#times.length && this.#isBefore(left, least)) least = left;
      if (right < this.#times.length && this.#isBefore(right, least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    return this.#times[one] < this.#times[other];
  }

  #swap(one: number, other: number): void {
    const atMs = this.#times[one];
    const item = this.#items[one];
    this.#times[one] = this.#times[other];
    this.#items[one] = this.#items[other];
    this.#times[other] = atMs;
    this.#items[other] = item;
  }
}
