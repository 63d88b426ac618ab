import type { Append } from '../coordinator-protocol.js';
import { invariant } from '../invariant.js';

/** Between a produce that failed and the next one: a dead topic must not keep the node spinning. */
export const FAILED_PRODUCE_PAUSE_MS = 100;

/**
 * What is to be appended: the newest record of each key waits while one produce is under way. A report is absolute, so
 * an older record of the same key is worth nothing and is never sent; the queue is bounded by the number of keys.
 *
 * A key that is said again goes to the end of the queue. Its author numbers all its records in one order, and a reader
 * drops what comes behind a higher number: at its old place in the queue a heartbeat would come behind newer reports,
 * and would not count as a sign of life.
 */
export class OutgoingQueue {
  /** In the order in which it will be sent, by partition and key. */
  readonly #waiting = new Map<string, Append>();
  #underWay: readonly Append[] | null = null;

  /** Records that wait for the next produce. */
  get size(): number {
    return this.#waiting.size;
  }

  get isSending(): boolean {
    return this.#underWay !== null;
  }

  add(appends: readonly Append[]): void {
    for (const append of appends) {
      const place = placeOf(append);
      this.#waiting.delete(place);
      this.#waiting.set(place, append);
    }
  }

  /** All that waits, as the next produce; null while one is under way, and when nothing waits. */
  takeNext(): readonly Append[] | null {
    if (this.#underWay !== null || this.#waiting.size === 0) return null;
    this.#underWay = [...this.#waiting.values()];
    this.#waiting.clear();
    return this.#underWay;
  }

  /** The produce under way is in the log. */
  succeeded(): void {
    this.#settle();
  }

  /**
   * The produce under way, or a part of it, may not be in the log. Returns the keys that have to be said again: those
   * of which nothing newer waits.
   */
  failed(): readonly string[] {
    const lost = this.#settle().filter((append) => !this.#waiting.has(placeOf(append)));
    return lost.map(({ key }) => key);
  }

  #settle(): readonly Append[] {
    const settled = this.#underWay;
    if (settled === null) invariant(false, 'a produce must be under way to end');
    this.#underWay = null;
    return settled as readonly Append[];
  }
}

/** A node has a record under the same key on every partition. */
function placeOf({ partition, key }: Append): string {
  return `${partition}:${key}`;
}
