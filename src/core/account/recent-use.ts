import { decay } from '../base/decay.js';
import type { NodeKey } from '../base/vocabulary.js';
import { CHANCE_PIECES } from '../report/constants/constants.js';
import type { ClusterBucket } from './cluster-bucket.js';
import { WAITS_RECENT_TIMES } from './constants.js';

/**
 * Remembers which nodes used a bucket lately, or wait for it. Tokens of a bucket that is too small to be divided go to
 * the node that had the fewest lately (docs/decisions/0074).
 */
export class RecentUse {
  /** Shared and empty until the first charge, which needs whole pieces. */
  #nodes: Map<NodeKey, Use> = NOBODY;
  #timesFull = 0;

  /** @param units taken by a node; 0 = it was refused work, and waits */
  charge(node: NodeKey, units: number, logMs: number, bucket: ClusterBucket, piece: number): void {
    const left = this.#left(this.#nodes.get(node), logMs, bucket);
    const least = this.#leastOf(node, logMs, bucket, piece);
    if (this.#nodes === NOBODY) this.#nodes = new Map();
    const all = Math.max(left, least) + Math.max(0, units);
    this.#nodes.set(node, { node, units: all, atMs: logMs, timesFull: this.#timesFull });
  }

  /**
   * Notes that the bucket is full: earlier takers are known no more.
   *
   * *Worked:* 10/s of depth 100 on twelve nodes. One took 18 six seconds ago, another takes 18 now, and a second later
   * all take what they may. If the first were known to itself alone, it had 52 instead of an advance of 16.
   *
   * *Why:* a node that begins to follow the bucket finds no row of the first.
   */
  full(): void {
    this.#timesFull++;
  }

  /**
   * Finds the floor of a node's counted use: some pieces below the least other one. A new node begins one piece behind:
   * the next one is its own. It would otherwise have all of a busy bucket until it had caught up with the others'
   * earlier use.
   */
  #leastOf(node: NodeKey, logMs: number, bucket: ClusterBucket, piece: number): number {
    const recentMs = recentMsOf(bucket);
    const use = this.#nodes.get(node);
    const pieces = use !== undefined && logMs - use.atMs <= recentMs ? CHANCE_PIECES : 1;
    let least = Infinity;
    for (const other of this.#nodes.values()) {
      if (other.node === node || logMs - other.atMs > recentMs) continue;
      least = Math.min(least, this.#left(other, logMs, bucket));
    }
    return least === Infinity ? 0 : least - pieces * piece;
  }

  /** Tests for a node's recent record since the bucket was full. */
  isKnown(own: NodeKey, logMs: number, bucket: ClusterBucket): boolean {
    const use = this.#nodes.get(own);
    return use !== undefined && use.timesFull === this.#timesFull && logMs - use.atMs <= recentMsOf(bucket);
  }

  /** Counts the other nodes with a recent record. */
  othersLately(own: NodeKey, logMs: number, bucket: ClusterBucket): number {
    const recentMs = recentMsOf(bucket);
    let others = 0;
    for (const { node, atMs } of this.#nodes.values()) {
      if (node === own) continue;
      const silentMs = logMs - atMs;
      if (silentMs <= recentMs) others++;
      else if (silentMs > 2 * WAITS_RECENT_TIMES * recentMs) this.#nodes.delete(node);
    }
    return others;
  }

  /** Counts the nodes that had less than `own`: they go before it. */
  countBefore(own: NodeKey, logMs: number, bucket: ClusterBucket): number {
    const recentMs = recentMsOf(bucket);
    const had = this.#left(this.#nodes.get(own), logMs, bucket);
    let before = 0;
    for (const use of this.#nodes.values()) {
      const { node, atMs } = use;
      if (node === own || logMs - atMs > recentMs) continue;
      const has = this.#left(use, logMs, bucket);
      if (has < had || (has === had && node < own)) before++;
    }
    return before;
  }

  /** Tests if every recent author had over a piece more; false without one. */
  isBehindAll(own: NodeKey, logMs: number, bucket: ClusterBucket, piece: number): boolean {
    const recentMs = recentMsOf(bucket);
    const ahead = this.#left(this.#nodes.get(own), logMs, bucket) + piece;
    let others = 0;
    for (const use of this.#nodes.values()) {
      if (use.node === own || logMs - use.atMs > recentMs) continue;
      if (this.#left(use, logMs, bucket) <= ahead) return false;
      others++;
    }
    return others > 0;
  }

  /** Sums up others' lags in units behind `own`, rare authors included. */
  lagOfOthers(own: NodeKey, logMs: number, bucket: ClusterBucket): number {
    const waitsMs = WAITS_RECENT_TIMES * recentMsOf(bucket);
    const had = this.#left(this.#nodes.get(own), logMs, bucket);
    let lag = 0;
    for (const use of this.#nodes.values()) {
      if (use.node === own || logMs - use.atMs > waitsMs) continue;
      lag += Math.max(0, had - this.#left(use, logMs, bucket));
    }
    return lag;
  }

  /** Computes the rest of a node's use: it fades with the inflow of four depths and a unit per node. */
  #left(use: Use | undefined, logMs: number, { perSecond, depth }: ClusterBucket): number {
    if (use === undefined || use.units === 0) return 0;
    const seconds = Math.max(0, logMs - use.atMs) / 1000;
    return use.units * decay((seconds * perSecond) / (WAITS_RECENT_TIMES * depth + this.#nodes.size));
  }
}

const NOBODY = new Map<NodeKey, Use>();

interface Use {
  readonly node: NodeKey;
  readonly units: number;
  readonly atMs: number;
  /** Times that the bucket was full until then. */
  readonly timesFull: number;
}

function recentMsOf({ perSecond, depth }: ClusterBucket): number {
  return 1000 * (2 + depth / perSecond);
}
