import { decay } from '../base/decay.js';
import type { NodeKey } from '../base/vocabulary.js';
import type { ClusterBucket } from './cluster-bucket.js';

/**
 * Who used a bucket lately, by the log. Where a bucket is so small that its tokens cannot be divided, they go to the
 * node that had the fewest lately.
 */
export class RecentUse {
  readonly #nodes = new Map<NodeKey, { readonly units: number; readonly atMs: number }>();
  readonly #found = { active: 0, rank: 0 };

  charge(node: NodeKey, units: number, logMs: number, bucket: ClusterBucket): void {
    this.#nodes.set(node, { units: this.#left(node, logMs, bucket) + Math.max(0, units), atMs: logMs });
  }

  /**
   * Counts the other nodes that have written lately, and those of them that had less than `own`. The result is scratch
   * space: read it at once.
   */
  look(own: NodeKey, logMs: number, bucket: ClusterBucket): { readonly active: number; readonly rank: number } {
    const recentMs = 1000 * (2 + bucket.depth / bucket.perSecond);
    const had = this.#left(own, logMs, bucket);
    this.#found.active = 0;
    this.#found.rank = 0;
    for (const [node, { atMs }] of this.#nodes) {
      if (node === own) continue;
      const silentMs = logMs - atMs;
      if (silentMs > FORGOTTEN_AFTER * recentMs) this.#nodes.delete(node);
      if (silentMs > recentMs) continue;
      this.#found.active++;
      const has = this.#left(node, logMs, bucket);
      if (has < had || (has === had && node < own)) this.#found.rank++;
    }
    return this.#found;
  }

  /** What is left of a node's use: it fades within the time in which four depths flow in. */
  #left(node: NodeKey, logMs: number, { perSecond, depth }: ClusterBucket): number {
    const known = this.#nodes.get(node);
    if (known === undefined) return 0;
    const seconds = Math.max(0, logMs - known.atMs) / 1000;
    return known.units * decay((seconds * perSecond) / (4 * depth + this.#nodes.size));
  }
}

/** A node that has been silent for so many times the recent time is not remembered. */
const FORGOTTEN_AFTER = 8;
