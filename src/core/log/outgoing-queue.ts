import { invariant } from '../base/invariant.js';
import type { Append } from '../base/protocol/events-and-effects.js';

/** The records of one partition that are sent together. */
export interface Produce {
  readonly partition: number;
  readonly appends: readonly Append[];
}

/**
 * Holds the records to append, and one produce per partition. Only the newest record of each key waits: a record holds
 * everything about its key, so an older one is worth nothing. The number of keys bounds the queue.
 *
 * Each partition has its own produce, because a leader that does not answer must not hold up the others: the node would
 * be silent on the membership partition while another one is away.
 *
 * A record that replaces a waiting one goes to the end of the queue. A node numbers all its records in one sequence,
 * and readers of a partition drop a record that comes after a higher number. At the old place, a report would precede a
 * heartbeat with a lower number, and that heartbeat would not count as a sign of life.
 */
export class OutgoingQueue {
  /** By partition, then by key in the order of sending. */
  readonly #waiting = new Map<number, Map<string, Append>>();
  /** By partition. */
  readonly #underWay = new Map<number, readonly Append[]>();

  /** Counts the records that wait for the next produce of their partition. */
  get size(): number {
    let size = 0;
    for (const waiting of this.#waiting.values()) size += waiting.size;
    return size;
  }

  get isSending(): boolean {
    return this.#underWay.size > 0;
  }

  add(appends: readonly Append[]): void {
    for (const append of appends) {
      const waiting = this.#waitingFor(append.partition);
      waiting.delete(append.key);
      waiting.set(append.key, append);
    }
  }

  /** Takes all records that wait for one partition; null = none may be sent now. */
  takeNext(): Produce | null {
    for (const [partition, waiting] of this.#waiting) {
      if (waiting.size === 0 || this.#underWay.has(partition)) continue;
      const appends = [...waiting.values()];
      waiting.clear();
      this.#underWay.set(partition, appends);
      return { partition, appends };
    }
    return null;
  }

  succeeded(partition: number): void {
    this.#endProduce(partition);
  }

  /**
   * Ends a produce that the log may lack, wholly or partly. Returns the keys to write again: those for which no newer
   * record waits.
   */
  failed(partition: number): readonly string[] {
    const waiting = this.#waitingFor(partition);
    const lost = this.#endProduce(partition).filter(({ key }) => !waiting.has(key));
    return lost.map(({ key }) => key);
  }

  #waitingFor(partition: number): Map<string, Append> {
    const waiting = this.#waiting.get(partition) ?? new Map<string, Append>();
    this.#waiting.set(partition, waiting);
    return waiting;
  }

  #endProduce(partition: number): readonly Append[] {
    const produced = this.#underWay.get(partition);
    invariant(produced !== undefined, 'a produce must be under way to end', { partition });
    this.#underWay.delete(partition);
    return produced;
  }
}
