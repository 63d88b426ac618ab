import { AccountLedger, type Grant } from '../oracle/account-ledger.js';
import type { WrittenBucket } from './story.js';
import { depthOf, isInPieces, perSecondOf } from './written-bucket.js';

export class ToldBucket {
  readonly name: string;
  readonly ledger: AccountLedger;
  /** Time of the last request. */
  askedMs = -Infinity;
  /** Requests that wait for their answer. */
  waiting = 0;
  written: WrittenBucket;
  /** Time of the last change. */
  limitedMs = -Infinity;
  /** Time at which something came back last. */
  backMs = -Infinity;
  /** Until then a lowered key may lack what was spent silently. */
  lackingMs = -Infinity;
  /** True = a node became ready after a change. It takes the bucket for full. */
  isVague = false;
  /** Processes that were asked for it: a refused one uses it, too. */
  readonly askedBy = new Set<object>();
  /** Processes that have granted of it. */
  readonly servedBy = new Set<object>();
  readonly #nodes: number;
  /** Quotas that some nodes still have, with their end. */
  #former: { readonly written: WrittenBucket; readonly untilMs: number }[] = [];

  /** @param nodes most nodes at once */
  constructor(name: string, written: WrittenBucket, nowMs: number, nodes: number) {
    this.name = name;
    this.written = written;
    this.#nodes = nodes;
    this.ledger = new AccountLedger(isInPieces(written, nodes) ? nodes : 0, written.isKey);
    this.ledger.limited(nowMs, perSecondOf(written), depthOf(written));
  }

  get depth(): number {
    return depthOf(this.written);
  }

  /** Changes the quota; until `allMs` some nodes have a former one. */
  limited(written: WrittenBucket, nowMs: number, allMs: number): void {
    this.limitedMs = allMs;
    this.#former = this.#former.filter(({ untilMs }) => untilMs > nowMs);
    this.#former.push({ written: this.written, untilMs: allMs });
    if (written.isKey && depthOf(written) < this.depth)
      this.lackingMs = Math.max(this.lackingMs, allMs + (1000 * this.depth) / perSecondOf(written));
    this.written = written;
    let inForce = [...this.#former];
    for (const atMs of [nowMs, ...this.#former.map(({ untilMs }) => untilMs)]) {
      inForce = inForce.filter(({ untilMs }) => untilMs > atMs);
      const all = [written, ...inForce.map((one) => one.written)];
      this.ledger.limited(atMs, Math.max(...all.map(perSecondOf)), Math.max(...all.map(depthOf)));
    }
  }

  /**
   * Counts a grant.
   * @param isStarter true = the node has started within two deliveries
   */
  granted(atMs: number, amount: number, by: object, isStarter: boolean): Grant {
    return this.ledger.granted(atMs, amount, { nodes: this.#nodes, by, starter: isStarter ? by : null });
  }
}
