import type { Notice, Phase } from '../coordinator-protocol.js';
import type { NodeRecord } from '../report/record.js';

/**
 * The partitions that the cluster was founded with. A group belongs to one of them by their number, so nodes that count
 * differently look for one group in two places. Partitions are only ever added, and those who run go on with what they
 * had: so who counts more than a living member may not join, and says so by name.
 *
 * A member is known to live when it is heard after this node has caught up. Where the log holds but old records of such
 * members, a start waits for `stalenessMs`: a cluster of which nobody runs any more may grow. No other start waits.
 */
export class PartitionCount {
  readonly #own: number;
  readonly #stalenessMs: number;
  #joinsAtMs = Number.POSITIVE_INFINITY;
  #isCaughtUp = false;
  /** Somebody who counts fewer: as heard last, and since this node has caught up. */
  #remembered: NodeRecord | null = null;
  #living: NodeRecord | null = null;

  constructor({ partitions, stalenessMs }: { readonly partitions: number; readonly stalenessMs: number }) {
    this.#own = partitions;
    this.#stalenessMs = stalenessMs;
  }

  /** A NODE record that is news; without a count it is of a version that does not say. */
  heard(record: NodeRecord): void {
    if ((record.partitions ?? this.#own) >= this.#own) return;
    this.#remembered = record;
    if (this.#isCaughtUp) this.#living = record;
  }

  /** All that was in the log has been read. Returns whether the node may join now; else `hasWaited` tells when. */
  mayJoin(nowMs: number): boolean {
    const mayJoin = this.#remembered === null || nowMs >= this.#joinsAtMs;
    if (!mayJoin && !this.#isCaughtUp) this.#joinsAtMs = nowMs + this.#stalenessMs;
    this.#isCaughtUp = true;
    return mayJoin;
  }

  hasWaited(nowMs: number): boolean {
    return nowMs >= this.#joinsAtMs;
  }

  /** Another log begins. */
  forgetAll(): void {
    this.#remembered = null;
    this.#living = null;
    this.#isCaughtUp = false;
    this.#joinsAtMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Why this node has to stop; nothing = it need not.
   * @param isFounder it has gone on from another log: then it stays what it was, and whoever is new yields
   */
  verdict(phase: Phase, isFounder: boolean): readonly Notice[] {
    if (this.#living === null || isFounder || phase === 'stopping' || phase === 'fenced') return NOTHING;
    const { nodeId, partitions: founded = 0 } = this.#living;
    return [{ kind: 'partitions-differ', nodeId, founded, own: this.#own }];
  }
}

const NOTHING: readonly Notice[] = [];
