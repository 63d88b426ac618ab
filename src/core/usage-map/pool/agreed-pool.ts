import type { NodeKey } from '../../base/vocabulary.js';
import { Claims, nextDivisor } from './agreement.js';

/**
 * Computes the pool that `equal` divides by, from a partition's log. A member joins with a claim about the size of the
 * pool, claims another size once it has applied it, and leaves. All divide by `divisor`; members that joined after the
 * last agreement wait.
 *
 * *Worked:* a and b agree on 2. c's record: live 3, so a and b divide by 3 at once and c waits. When a's, b's and c's
 * claims are 3, all three are served. c leaves: live 2, the divisor stays 3 until both claim 2.
 *
 * *Why* no moment has Σ 1/divisor > 1: a member applies the larger divisor before it claims it, so when all claims are
 * the live count k, all divide by k or more. Only then may the divisor fall to k, and the members that waited begin.
 */
export class AgreedPool {
  divisor = 1;
  isAgreed = false;
  /** Number of changes of any member's part. */
  changes = 0;
  readonly #claims = new Claims<NodeKey>();
  readonly #served = new Set<NodeKey>();

  /** Notes a member's sign of life with its claim. 0 = no claim, and then there is no agreement. */
  heard(nodeKey: NodeKey, claim: number): void {
    this.#claims.set(nodeKey, claim);
    this.#judge();
  }

  /** Notes a node's newer life: its process has applied nothing yet. */
  restarted(nodeKey: NodeKey): void {
    if (this.#served.delete(nodeKey)) this.changes++;
  }

  gone(nodeKey: NodeKey): void {
    if (!this.#claims.has(nodeKey)) return;
    this.#claims.delete(nodeKey);
    this.#served.delete(nodeKey);
    this.changes++;
    this.#judge();
  }

  /**
   * Forgets all claims, because another log begins. The divisor stays, because nodes go on dividing by it, and it falls
   * by agreement alone.
   */
  forgetAll(): void {
    for (const nodeKey of [...this.#claims.keys()]) this.#claims.delete(nodeKey);
    this.#served.clear();
    this.isAgreed = false;
    this.changes++;
  }

  isServed(nodeKey: NodeKey): boolean {
    return this.#served.has(nodeKey);
  }

  #judge(): void {
    const verdict = this.#claims.verdict();
    const divisor = Math.max(1, nextDivisor(verdict, this.divisor));
    if (divisor !== this.divisor || verdict.isAgreed !== this.isAgreed) this.changes++;
    this.divisor = divisor;
    this.isAgreed = verdict.isAgreed;
    if (!verdict.isAgreed || this.#served.size === verdict.live) return;
    for (const nodeKey of this.#claims.keys()) this.#served.add(nodeKey);
    this.changes++;
  }
}
