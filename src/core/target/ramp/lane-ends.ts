import { TimeHeap } from '../../base/time-heap.js';
import { OUTDATED_ENDS_MAX } from '../constants/constants.js';

const NONE: readonly number[] = [];

interface End {
  readonly mapLane: number;
  readonly atMs: number;
}

/**
 * Orders lanes by the times at which something of them ends. Records put off nearly all ends before they come. So a
 * lane's new end is looked up only when its old one has come.
 */
export class LaneEnds {
  #heap = new TimeHeap<End>();
  /** Next end to look at per lane, never after its true one. */
  readonly #next = new Map<number, End>();

  /** Moves the lane's end to this time; a later time waits for the next look. */
  move(mapLane: number, atMs: number): void {
    const next = this.#next.get(mapLane);
    if (next !== undefined && next.atMs <= atMs) return;
    this.#put({ mapLane, atMs });
  }

  /**
   * Takes out the lanes that have ended before this time.
   * @param endOf the true end of a lane; undefined = none any more
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
    // Without this, a node that writes ever earlier ends for a lane would fill the memory until they come.
    if (this.#heap.size > 2 * this.#next.size + OUTDATED_ENDS_MAX) {
      this.#heap.keep((each) => this.#next.get(each.mapLane) === each);
    }
  }
}
