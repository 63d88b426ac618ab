import type { Append } from '../coordinator-protocol.js';
import { invariant } from '../invariant.js';

/** The pause between a failed produce and the next one: without it, a dead topic would keep the node busy. */
export const FAILED_PRODUCE_PAUSE_MS = 100;

/**
 * The records that wait to be appended, while one produce at a time is under way. Only the newest record of each key
 * waits: a record says everything about its key, so an older one is worth nothing. The number of keys bounds the queue.
 *
 * A record that replaces a waiting one goes to the end of the queue. A node numbers all its records in one sequence,
 * and readers drop a record that comes after one with a higher number. At its old place, a report would be written
 * before a heartbeat with a lower number, and that heartbeat would not count as a sign of life.
 */
export class OutgoingQueue {
  /** By partition and key, in the order in which they will be sent. */
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

  /** Takes all waiting records as the next produce; null while a produce is under way, or when nothing waits. */
  takeNext(): readonly Append[] | null {
    if (this.#underWay !== null || this.#waiting.size === 0) return null;
    this.#underWay = [...this.#waiting.values()];
    this.#waiting.clear();
    return this.#underWay;
  }

  /** Called when the produce under way is in the log. */
  succeeded(): void {
    this.#endProduce();
  }

  /**
   * Called when the produce under way, or a part of it, may not be in the log. Returns the keys that have to be written
   * again: those for which no newer record waits.
   */
  failed(): readonly string[] {
    const lost = this.#endProduce().filter((append) => !this.#waiting.has(placeOf(append)));
    return lost.map(({ key }) => key);
  }

  #endProduce(): readonly Append[] {
    const produced = this.#underWay;
    if (produced === null) invariant(false, 'a produce must be under way to end');
    this.#underWay = null;
    return produced as readonly Append[];
  }
}

/** The key alone does not tell: a node writes its NODE record under one key on every partition. */
function placeOf({ partition, key }: Append): string {
  return `${partition}:${key}`;
}
