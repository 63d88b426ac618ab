import { AccountLedger, type Grant, TOGETHER } from '../oracle/account-ledger.js';
import type { WrittenBucket } from './story.js';
import { depthOf, isInPieces, perSecondOf } from './written-bucket.js';

/** What callers were told of one group or key. */
export class ToldBucket {
  readonly name: string;
  readonly ledger: AccountLedger;
  /** When it was last asked for. */
  askedMs = -Infinity;
  written: WrittenBucket;
  /** When its quota was changed last. */
  limitedMs = -Infinity;
  readonly #nodes: number;

  /** @param nodes the most that there are at once */
  constructor(name: string, written: WrittenBucket, nowMs: number, nodes: number) {
    this.name = name;
    this.written = written;
    this.#nodes = nodes;
    this.ledger = new AccountLedger(isInPieces(written, nodes) ? nodes : 0);
    this.ledger.limited(nowMs, perSecondOf(written), depthOf(written));
  }

  get depth(): number {
    return depthOf(this.written);
  }

  get perSecond(): number {
    return perSecondOf(this.written);
  }

  /** Another quota is written. Until `allMs` some nodes have the former one. */
  limited(written: WrittenBucket, nowMs: number, allMs: number): void {
    this.limitedMs = allMs;
    const [perSecond, depth] = [this.perSecond, this.depth];
    this.written = written;
    this.ledger.limited(nowMs, Math.max(perSecond, this.perSecond), Math.max(depth, this.depth));
    this.ledger.limited(allMs, this.perSecond, this.depth);
  }

  /** Counts a grant; what exceeds a node's part of a full bucket is allowed. */
  granted(atMs: number, amount: number): Grant {
    const part = Math.min(1, TOGETHER / this.#nodes) * this.depth;
    return this.ledger.granted(atMs, amount, Math.max(0, amount - part));
  }
}
