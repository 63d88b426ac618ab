import type { ClusterBucket } from './cluster-bucket.js';

/**
 * The bounds of a single node's share as buckets: a part of the cluster's bucket, in rate and depth.
 *
 *     maxShareRatio   the node needs the tokens of that part too. A maximum on expected use alone would not hold it: a
 *                     full bucket, and the slack, are there for whoever wants them.
 *     minShareRatio   the node may take the tokens of that part, whatever the cluster's bucket holds. What it takes is
 *                     charged as all else is, so the others are given less. While it does not want its part, they are
 *                     given that too.
 *
 * Worked, 1,000/s, depth 100. Maximum 0.3: any span of a node holds 300/s and 30. Minimum 0.2: a node that wakes next
 * to busy ones has 20 at once and 200/s from then on, before anybody knows of it. All minimums together are the target
 * at most, so a debt is not made deeper by more than one depth.
 */
export class OwnParts {
  readonly #most = new Part(Number.POSITIVE_INFINITY);
  readonly #least = new Part(0);

  /** @param count alive nodes */
  set({ minShareRatio, maxShareRatio, count }: ShareRange, bucket: ClusterBucket, piece: number): void {
    const least = Math.min(minShareRatio, 1 / count);
    this.#least.set(least * bucket.perSecond, least * bucket.depth);
    if (maxShareRatio < 1)
      this.#most.set(maxShareRatio * bucket.perSecond, Math.max(piece, maxShareRatio * bucket.depth));
    else this.#most.set(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** @param taken units in that time; negative where more came back than was taken */
  pass(seconds: number, taken: number): void {
    this.#most.pass(seconds, taken);
    this.#least.pass(seconds, taken);
    // Who takes more than its minimum owes none of it.
    this.#least.tokens = Math.max(0, this.#least.tokens);
  }

  /** Keeps what a node may take to both parts. */
  bind(own: Takeable, isMember: boolean): void {
    const least = this.#least;
    // A node that the log has given up has no part: others use what was its own.
    if (isMember && least.tokens > Math.max(0, own.takeable)) {
      own.takeable = least.tokens;
      own.depth = Math.max(own.depth, least.depth);
      own.perSecond = Math.max(own.perSecond, least.perSecond);
      own.comesBackPerSecond = Math.max(own.comesBackPerSecond, least.perSecond);
    }
    const most = this.#most;
    own.takeable = Math.min(own.takeable, most.tokens);
    own.depth = Math.min(own.depth, most.depth);
    own.perSecond = Math.min(own.perSecond, most.perSecond);
    own.comesBackPerSecond = Math.min(own.comesBackPerSecond, most.perSecond);
  }
}

interface ShareRange {
  readonly minShareRatio: number;
  readonly maxShareRatio: number;
  readonly count: number;
}

/** What a node may take: units now, at most so many later, units per second; and what a client is told to wait for. */
interface Takeable {
  takeable: number;
  depth: number;
  perSecond: number;
  comesBackPerSecond: number;
}

class Part {
  perSecond: number;
  depth: number;
  /** Negative: a debt. */
  tokens: number;

  /** @param all of everything; Infinity = there is no bound */
  constructor(all: number) {
    this.perSecond = all;
    this.depth = all;
    this.tokens = all;
  }

  set(perSecond: number, depth: number): void {
    this.perSecond = perSecond;
    this.depth = depth;
    this.tokens = Math.min(depth, this.tokens);
  }

  pass(seconds: number, taken: number): void {
    if (this.depth === Number.POSITIVE_INFINITY) this.tokens = this.depth;
    else this.tokens = Math.min(this.depth, this.tokens + this.perSecond * seconds) - taken;
  }
}
