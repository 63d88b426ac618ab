import { decay } from '../base/decay.js';
import type { NodeKey } from '../base/vocabulary.js';
import type { ClusterBucket } from './cluster-bucket.js';

/**
 * Who used a bucket lately, by the log. Where a bucket is so small that its tokens cannot be divided, they go to the
 * node that had the fewest lately.
 */
export class RecentUse {
  /** Shared and empty until something is charged, as it is where whole pieces are given. */
  #nodes: Map<NodeKey, Use> = NOBODY;

  charge(node: NodeKey, units: number, logMs: number, bucket: ClusterBucket): void {
    const left = this.#left(this.#nodes.get(node), logMs, bucket);
    if (this.#nodes === NOBODY) this.#nodes = new Map();
    this.#nodes.set(node, { node, units: left + Math.max(0, units), atMs: logMs });
  }

  /** Whether the log says that this node has used the bucket lately. */
  isKnown(own: NodeKey, logMs: number, bucket: ClusterBucket): boolean {
    const use = this.#nodes.get(own);
    return use !== undefined && logMs - use.atMs <= recentMsOf(bucket);
  }

  /** How many other nodes have written lately. */
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

  /** How many of them had less than `own`: so many go before it. */
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

  /** What is left of a node's use: it fades within the time in which four depths flow in. */
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
