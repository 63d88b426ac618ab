/**
 * Measures time at 1/N of its speed where N nodes are alive. The inflow of a node's part is then quota × difference,
 * however often N has changed.
 *
 * An unused bucket holds as much as one that was never used: 1/N of the depth, but at most its tokens when N fell and
 * the inflow since. No bucket holds more, so this one bounds all others.
 */
export class ShareTime {
  #nodes = 1;
  #sinceMs = 0;
  #since = 0;
  /** Parts of the depth in an unused bucket when N fell, ascending. Bounds without effect are dropped. */
  #bounds: { readonly part: number; readonly at: number }[] = [];

  get nodes(): number {
    return this.#nodes;
  }

  at(nowMs: number): number {
    return this.#since + (nowMs - this.#sinceMs) / this.#nodes;
  }

  /** Sets the number of nodes that share every key from now on. */
  setNodes(nodes: number, nowMs: number): void {
    this.#bound(1 / this.#nodes, nowMs);
    this.#nodes = nodes;
    this.#dropBeyond(1 / nodes);
  }

  /** Empties all buckets at this time. */
  begin(nowMs: number): void {
    this.#bound(0, nowMs);
  }

  /** Share time at which an unused bucket holds 1/N of its depth. The depth is in quota × ms. */
  wholeAt(depth: number): number {
    let last = -Infinity;
    for (const { part, at } of this.#bounds) last = Math.max(last, at + depth * (1 / this.#nodes - part));
    return last;
  }

  /** Computes the tokens of an unused bucket of this depth. */
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

  /** Drops older bounds that would leave more at all times. */
  #dropBeyond(part: number): void {
    while ((this.#bounds.at(-1)?.part ?? -1) >= part) this.#bounds.pop();
  }
}
