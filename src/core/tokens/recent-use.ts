import { decay } from '../base/decay.js';
import type { NodeKey } from '../base/vocabulary.js';

/**
 * Who used a bucket lately, by the log. Where a bucket is so small that its tokens cannot be divided, they go to the
 * node that had the fewest lately.
 */
export class RecentUse {
  readonly #nodes = new Map<NodeKey, { units: number; atMs: number }>();
  #rank = 0;
  #active = 0;

  charge(node: NodeKey, units: number, logMs: number, { perSecond, depth }: Span): void {
    const known = this.#nodes.get(node);
    if (known === undefined) this.#nodes.set(node, { units: Math.max(0, units), atMs: logMs });
    else {
      known.units = known.units * faded(logMs - known.atMs, perSecond, depth, this.#nodes.size) + Math.max(0, units);
      known.atMs = logMs;
    }
  }

  /** Counts the other nodes that have written lately, and those of them that had less than `own`. */
  look(own: NodeKey, logMs: number, { perSecond, depth }: Span): void {
    const recentMs = 1000 * (2 + depth / perSecond);
    const count = this.#nodes.size;
    const known = this.#nodes.get(own);
    const had = known === undefined ? 0 : known.units * faded(logMs - known.atMs, perSecond, depth, count);
    this.#active = 0;
    this.#rank = 0;
    for (const [node, { units, atMs }] of this.#nodes) {
      if (node === own) continue;
      if (logMs - atMs > recentMs) {
        if (logMs - atMs > FORGOTTEN * recentMs) this.#nodes.delete(node);
        continue;
      }
      this.#active++;
      const has = units * faded(logMs - atMs, perSecond, depth, count);
      if (has < had || (has === had && node < own)) this.#rank++;
    }
  }

  /** Other nodes that have written lately, as the last look found them. */
  get active(): number {
    return this.#active;
  }

  /** How many of those had less. */
  get rank(): number {
    return this.#rank;
  }

  forgetAll(): void {
    this.#nodes.clear();
  }
}

interface Span {
  readonly perSecond: number;
  readonly depth: number;
}

const FORGOTTEN = 8;

/** What is left of a use: it fades within the time in which four depths flow in. */
function faded(ms: number, perSecond: number, depth: number, nodes: number): number {
  return decay((Math.max(0, ms) * perSecond) / (1000 * (4 * depth + nodes)));
}
