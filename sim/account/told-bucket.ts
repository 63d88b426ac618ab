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
  /** When it granted something last. */
  grantedMs = -Infinity;
  readonly #nodes: number;
  /** Quotas that some nodes still have, and until when. */
  #former: { readonly written: WrittenBucket; readonly untilMs: number }[] = [];
  /** Tokens that each node has granted just after its start. */
  readonly #ofNew = new Map<object, number>();

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

  /** Another quota is written. Until `allMs` some nodes have a former one. */
  limited(written: WrittenBucket, nowMs: number, allMs: number): void {
    this.limitedMs = allMs;
    const former = [
      ...this.#former.filter(({ untilMs }) => untilMs > nowMs),
      { written: this.written, untilMs: allMs },
    ];
    this.#former = former;
    this.written = written;
    const all = [written, ...former.map((one) => one.written)];
    this.ledger.limited(nowMs, Math.max(...all.map(perSecondOf)), Math.max(...all.map(depthOf)));
    this.ledger.limited(allMs, this.perSecond, this.depth);
  }

  /** Reads a node's part of a full bucket. */
  get #part(): number {
    return Math.min(1, TOGETHER / this.#nodes) * this.depth;
  }

  /**
   * Counts a grant; what exceeds a node's part of a full bucket is allowed, and a node's part just after its start.
   * @param starter a node that has started within two deliveries
   */
  granted(atMs: number, amount: number, starter: object | null = null): Grant {
    this.grantedMs = atMs;
    let onTop = Math.max(0, amount - this.#part);
    if (starter !== null) {
      const before = this.#ofNew.get(starter) ?? 0;
      onTop = Math.max(onTop, Math.min(amount, this.#part - before));
      this.#ofNew.set(starter, before + onTop);
    }
    return this.ledger.granted(atMs, amount, onTop);
  }
}
