import type { LaneView } from '../convergence/strategy.js';
import type { ClusterBucket } from './cluster-bucket.js';

/**
 * Bounds a node's share by buckets of its own:
 *
 *     nothing is lent  the node needs the tokens of a bucket as deep as the cluster's that its share flows into. So it
 *                      takes no more than its share in the long run, whatever the cluster's bucket holds; but an idle
 *                      node has the whole burst. A newcomer to the pool waits with a share of 0.
 *     maxShareRatio    the node needs the tokens of that part of the cluster's bucket. A maximum on expected use alone
 *                      would not hold it: any node may use a full bucket and the slack.
 *     minShareRatio    the node may take the tokens of that part, whatever the cluster's bucket holds. Their use is
 *                      charged as all else is, so the others are given less. While it does not want its part, they
 *                      are given that too.
 *
 * Worked, 1,000/s, depth 100. Maximum 0.3: any span of a node holds 300/s and 30. Minimum 0.2: a node that wakes next
 * to busy ones has 20 at once and 200/s from then on, before any record of it is read. All minimums together are the
 * target at most, so a debt is not made deeper by more than one depth.
 */
export class OwnParts {
  /** Null until a maximum is set; below, until nothing is lent. */
  #most: Part | null = null;
  #share: ShareAlone | null = null;
  readonly #least = new Part(0);

  set(
    range: Pick<LaneView, 'minShareRatio' | 'maxShareRatio' | 'isLent'>,
    nodes: number,
    bucket: ClusterBucket,
    piece: number,
    own: OwnShare,
  ): void {
    const { minShareRatio, maxShareRatio } = range;
    if (!range.isLent) this.#share ??= new ShareAlone();
    this.#share?.set(range.isLent ? null : own, bucket.depth);
    const least = Math.min(minShareRatio, 1 / nodes);
    this.#least.set(least * bucket.perSecond, least * bucket.depth);
    if (maxShareRatio < 1) {
      this.#most ??= new Part(Infinity);
      this.#most.set(maxShareRatio * bucket.perSecond, Math.max(piece, maxShareRatio * bucket.depth));
    } else this.#most?.set(Infinity, Infinity);
  }

  /** @param taken units in that time; negative where more was given back */
  pass(seconds: number, taken: number): void {
    this.#share?.pass(seconds, taken);
    this.#most?.pass(seconds, taken);
    this.#least.pass(seconds, taken);
    // A node that takes more than its minimum owes none of it.
    this.#least.tokens = Math.max(0, this.#least.tokens);
  }

  /** Keeps the units for a node to its bounds. Its minimum goes before its share, and its maximum before both. */
  bind(own: Takeable, isMember: boolean): void {
    this.#share?.bind(own);
    const least = this.#least;
    // A node that the log has given up has no part: others use it.
    if (isMember && least.tokens > Math.max(0, own.takeable)) {
      own.takeable = least.tokens;
      own.depth = Math.max(own.depth, least.depth);
      own.perSecond = Math.max(own.perSecond, least.perSecond);
      own.comesBackPerSecond = Math.max(own.comesBackPerSecond, least.perSecond);
    }
    const most = this.#most;
    if (most === null) return;
    own.takeable = Math.min(own.takeable, most.tokens);
    own.depth = Math.min(own.depth, most.depth);
    own.perSecond = Math.min(own.perSecond, most.perSecond);
    own.comesBackPerSecond = Math.min(own.comesBackPerSecond, most.perSecond);
  }
}

export interface OwnShare {
  /** Units per second. */
  readonly share: number;
  /** Seconds of the share that unrefusable work may owe. */
  readonly debtSeconds: number;
}

/** Units for a node: now, at most later, units per second; and the rate of a client's wait. */
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

  /** @param all value of every figure; Infinity = there is no bound */
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
    if (this.depth === Infinity) this.tokens = this.depth;
    else this.tokens = Math.min(this.depth, this.tokens + this.perSecond * seconds) - taken;
  }
}

/** Bounds a node by its share where nothing is lent; elsewhere by nothing. */
class ShareAlone {
  #own: OwnShare | null = null;
  #depth = 0;
  /** Negative: a debt. */
  #tokens = Infinity;

  /** @param own null = shares are lent */
  set(own: OwnShare | null, depth: number): void {
    this.#own = own;
    this.#depth = depth;
  }

  pass(seconds: number, taken: number): void {
    if (this.#own === null) {
      this.#tokens = Infinity;
      return;
    }
    const { share, debtSeconds } = this.#own;
    const least = -Math.max(this.#depth, debtSeconds * share);
    this.#tokens = Math.min(this.#depth, Math.max(least, this.#tokens - taken) + share * seconds);
  }

  bind(own: Takeable): void {
    if (this.#own === null) return;
    const { share } = this.#own;
    own.takeable = Math.min(own.takeable, share > 0 ? this.#tokens : 0);
    own.perSecond = Math.min(own.perSecond, share);
    own.comesBackPerSecond = Math.min(own.comesBackPerSecond, share);
  }
}
