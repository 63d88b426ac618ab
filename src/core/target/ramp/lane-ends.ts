import { TimeHeap } from '../../base/time-heap.js';

/** More outdated ends than lanes, and this many, are thrown away. */
const OUTDATED_MAX = 64;
const NONE: readonly number[] = [];

interface End {
  readonly mapLane: number;
  readonly atMs: number;
}

/**
 * Lanes in the order of the times at which something of them ends. Nearly all ends are put off before they come, by
 * records that renew them; so a lane is moved when its end has come, and its new one is looked up only then.
 */
export class LaneEnds {
  #heap = new TimeHeap<End>();
  /** The end at which a lane is looked at next, never after its true one. */
  readonly #next = new Map<number, End>();

  /** From now on the lane ends at this time. */
  move(mapLane: number, atMs: number): void {
    const next = this.#next.get(mapLane);
    if (next !== undefined && next.atMs <= atMs) return;
    this.#put({ mapLane, atMs });
  }

  /**
   * Takes out the lanes that have ended before this time.
   * @param endOf the true end of a lane; undefined = it has none any more
   */
  takeBefore(nowMs: number, endOf: (mapLane: number) => number | undefined): readonly number[] {
    if (this.#heap.nextMs >= nowMs) return NONE;
    const ended: number[] = [];
    while (this.#heap.nextMs < nowMs) {
      const end = this.#heap.pop() as End;
      const { mapLane } = end;
      if (this.#next.get(mapLane) !== end) continue;
      this.#next.delete(mapLane);
      const atMs = endOf(mapLane);
      if (atMs === undefined) continue;
      if (atMs < nowMs) ended.push(mapLane);
      else this.#put({ mapLane, atMs });
    }
    return ended;
  }

  clear(): void {
    this.#heap = new TimeHeap();
    this.#next.clear();
  }

  #put(end: End): void {
    this.#next.set(end.mapLane, end);
    this.#heap.push(end.atMs, end);
    // A node that writes ever earlier ends for a lane would otherwise fill the memory until they come.
    if (this.#heap.size > 2 * this.#next.size + OUTDATED_MAX) {
      this.#heap.keep((each) => this.#next.get(each.mapLane) === each);
    }
  }
}
