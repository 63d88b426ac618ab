import type { Fenced, Phase } from '../../base/protocol/events-and-effects.js';
import type { NodeRecord } from '../../base/protocol/record.js';
import type { NodeKey } from '../../base/vocabulary.js';

/**
 * Keeps a node out of a cluster that counts fewer partitions.
 *
 * The number of partitions decides to which partition a group belongs. Nodes that count differently would look for one
 * group on two partitions. Partitions are only ever added, and running nodes keep their count. So a node that counts
 * more partitions than a living member must not join; its error names that member.
 *
 * A member lives if a record of it is read after this node has caught up. If the log holds only older records of
 * members that counted fewer, a start waits for `stalenessMs`: a cluster without running nodes may grow. No other start
 * waits.
 *
 * A node that has decided for `stalenessMs` stops only for members that were in the log before it: any writer to the
 * topic can make up new ids.
 */
export class PartitionCount {
  readonly #own: number;
  readonly #stalenessMs: number;
  #joinsAtMs = Infinity;
  #isCaughtUp = false;
  /** The last record of a node that counts fewer partitions. */
  #remembered: NodeRecord | null = null;
  /** Nodes that counted fewer before this one caught up: they may only have slept. */
  readonly #before = new Set<NodeKey>();
  #settledMs = Infinity;
  /** The last such record read after this node had caught up. */
  #living: NodeRecord | null = null;

  constructor({ partitions, stalenessMs }: { readonly partitions: number; readonly stalenessMs: number }) {
    this.#own = partitions;
    this.#stalenessMs = stalenessMs;
  }

  /**
   * Notes a NODE record that is news. A record without a count comes from a version that does not publish it. Returns
   * false if the count is doubted.
   */
  heard(record: NodeRecord, nowMs: number): boolean {
    if ((record.partitions ?? this.#own) >= this.#own) return true;
    const { nodeKey } = record.author;
    if (!this.#isCaughtUp) this.#before.add(nodeKey);
    else if (nowMs > this.#settledMs && !this.#before.has(nodeKey)) return false;
    this.#remembered = record;
    if (this.#isCaughtUp) this.#living = record;
    return true;
  }

  /** Starts the time after which new ids cannot stop this node. */
  decides(nowMs: number): void {
    this.#settledMs = nowMs + this.#stalenessMs;
  }

  /** Notes that the log is read to its end. Returns true if the node may join; else `hasWaited` becomes true later. */
  caughtUp(nowMs: number): boolean {
    const mayJoin = this.#remembered === null || nowMs >= this.#joinsAtMs;
    if (!mayJoin && !this.#isCaughtUp) this.#joinsAtMs = nowMs + this.#stalenessMs;
    this.#isCaughtUp = true;
    return mayJoin;
  }

  hasWaited(nowMs: number): boolean {
    return nowMs >= this.#joinsAtMs;
  }

  forgetAll(): void {
    this.#remembered = null;
    this.#living = null;
    this.#before.clear();
    this.#isCaughtUp = false;
    this.#joinsAtMs = Infinity;
  }

  /**
   * Returns the reason for which this node has to stop; null = none.
   * @param hasLeftALog true = this process was in another log before: then it goes on, and newcomers stop
   */
  reasonToStop(phase: Phase, hasLeftALog: boolean): Fenced | null {
    if (this.#living === null || hasLeftALog || phase === 'stopping' || phase === 'fenced') return null;
    const { nodeId, partitions: founded = 0 } = this.#living;
    return { kind: 'partitions-differ', nodeId, founded, own: this.#own };
  }
}
