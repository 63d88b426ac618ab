import { decay } from '../base/decay.js';
import type { NodeKey } from '../base/vocabulary.js';
import type { ClusterBucket } from './cluster-bucket.js';

/**
 * Remembers who used a bucket lately, or waits for it, by the log. Where a bucket is so small that its tokens cannot be
 * divided, they go to the node that had the fewest lately.
 */
export class RecentUse {
  /** Shared and empty until something is charged, as it is where whole pieces are given. */
  #nodes: Map<NodeKey, Use> = NOBODY;

  /** @param units that a node took; 0 = it was refused work, and waits */
  charge(node: NodeKey, units: number, logMs: number, bucket: ClusterBucket, piece: number): void {
    const left = this.#left(this.#nodes.get(node), logMs, bucket);
    const least = this.#leastOf(node, logMs, bucket, piece);
    if (this.#nodes === NOBODY) this.#nodes = new Map();
    this.#nodes.set(node, { node, units: Math.max(left, least) + Math.max(0, units), atMs: logMs });
  }

  /**
   * Counts a node as having had nearly as much as the one that had the least of the others. Who comes to a busy bucket
   * would have all of it otherwise, until it had caught up with what the others had before.
   */
  #leastOf(node: NodeKey, logMs: number, bucket: ClusterBucket, piece: number): number {
    const recentMs = recentMsOf(bucket);
    const pieces = this.isKnown(node, logMs, bucket) ? BEHIND_PIECES_MAX : NEW_BEHIND_PIECES;
    let least = Infinity;
    for (const use of this.#nodes.values()) {
      if (use.node === node || logMs - use.atMs > recentMs) continue;
      least = Math.min(least, this.#left(use, logMs, bucket));
    }
    return least === Infinity ? 0 : least - pieces * piece;
  }

  /** Tests if the log says that this node has used the bucket lately, or waits for it. */
  isKnown(own: NodeKey, logMs: number, bucket: ClusterBucket): boolean {
    const use = this.#nodes.get(own);
    return use !== undefined && logMs - use.atMs <= recentMsOf(bucket);
  }

  /** Counts the other nodes that have written lately. */
  othersLately(own: NodeKey, logMs: number, bucket: ClusterBucket): number {
    const recentMs = recentMsOf(bucket);
    let others = 0;
    for (const { node, atMs } of this.#nodes.values()) {
      if (node === own) continue;
      const silentMs = logMs - atMs;
      if (silentMs <= recentMs) others++;
      else if (silentMs > FORGOTTEN_AFTER * recentMs) this.#nodes.delete(node);
    }
    return others;
  }

  /** Counts those that had less than `own`: so many go before it. */
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

  /** Tests if all that have written lately, one at least, had more than a piece more than `own`. */
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

  /** Sums up by how many units others had less than `own`, also those that ask seldom. */
  lagOfOthers(own: NodeKey, logMs: number, bucket: ClusterBucket): number {
    const waitsMs = WAITS_AFTER * recentMsOf(bucket);
    const had = this.#left(this.#nodes.get(own), logMs, bucket);
    let lag = 0;
    for (const use of this.#nodes.values()) {
      if (use.node === own || logMs - use.atMs > waitsMs) continue;
      lag += Math.max(0, had - this.#left(use, logMs, bucket));
    }
    return lag;
  }

  /** Computes what is left of a node's use: it fades within the time in which four depths flow in. */
  #left(use: Use | undefined, logMs: number, { perSecond, depth }: ClusterBucket): number {
    if (use === undefined || use.units === 0) return 0;
    const seconds = Math.max(0, logMs - use.atMs) / 1000;
    return use.units * decay((seconds * perSecond) / (4 * depth + this.#nodes.size));
  }
}

const NOBODY = new Map<NodeKey, Use>();

interface Use {
  readonly node: NodeKey;
  readonly units: number;
  readonly atMs: number;
}

function recentMsOf({ perSecond, depth }: ClusterBucket): number {
  return 1000 * (2 + depth / perSecond);
}

/** A node that has been silent for so many times the recent time is not remembered. */
const FORGOTTEN_AFTER = 8;
/** For so many times the recent time something is kept for a node. More keeps it for clients that ask seldom. */
const WAITS_AFTER = 4;
/** So far a node may fall behind the others, and catch up in one burst. More lets it have all while it does. */
const BEHIND_PIECES_MAX = 3;
/** The same of one that has just come: the next piece is its own. */
const NEW_BEHIND_PIECES = 1;
