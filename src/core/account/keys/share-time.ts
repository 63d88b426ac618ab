/**
 * Time as what a node may spend without publishing it sees it: it goes at 1/N where N nodes are alive, so that what has
 * come in since some instant is the quota × the difference, however often N has changed meanwhile.
 *
 * An unused bucket holds what a bucket holds that was never used: 1/N of the depth, but not more than it held when N
 * fell, and has come in since. No bucket holds more, so it is enough to look at this one when another is filled.
 */
export class ShareTime {
  #nodes = 1;
  #sinceMs = 0;
  #since = 0;
  /** Parts of the depth that an unused bucket held when N fell, rising with time: only these bound it still. */
  #bounds: { readonly part: number; readonly at: number }[] = [];

  get nodes(): number {
    return this.#nodes;
  }

  at(nowMs: number): number {
    return this.#since + (nowMs - this.#sinceMs) / this.#nodes;
  }

  /** So many nodes share every key from now on. */
  setNodes(nodes: number, nowMs: number): void {
    this.#bound(1 / this.#nodes, nowMs);
    this.#nodes = nodes;
    this.#dropBeyond(1 / nodes);
  }

  /** All buckets are empty at this time. */
  begin(nowMs: number): void {
    this.#bound(0, nowMs);
  }

  /** When an unused bucket of such a depth, in units of quota × ms, holds 1/N of it; times of this clock. */
  wholeAt(depth: number): number {
    let last = -Infinity;
    for (const { part, at } of this.#bounds) last = Math.max(last, at + depth * (1 / this.#nodes - part));
    return last;
  }

  /** Computes what an unused bucket of such a depth holds. */
  unused(depth: number, now: number): number {
    let least = depth / this.#nodes;
    for (const { part, at } of this.#bounds) least = Math.min(least, depth * part + now - at);
    return Math.max(0, least);
  }

  #bound(part: number, nowMs: number): void {
    const now = this.at(nowMs);
    [this.#since, this.#sinceMs] = [now, nowMs];
    this.#dropBeyond(part);
    this.#bounds.push({ part, at: now });
  }

  /** An older bound leaves more at all times. */
  #dropBeyond(part: number): void {
    while ((this.#bounds.at(-1)?.part ?? -1) >= part) this.#bounds.pop();
  }
}
