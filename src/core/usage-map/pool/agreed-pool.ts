import type { NodeKey } from '../../base/vocabulary.js';
import { Claims, nextDivisor } from './agreement.js';

/**
 * The pool that `equal` divides by, as a function of a partition's log. A member joins with a claim about the size of
 * the pool, claims another size once it has applied it, and leaves. Everybody divides by `divisor`; members that joined
 * after the last agreement wait.
 *
 * Why no moment has Σ 1/divisor > 1: a member applies the larger divisor before it claims it, so when all claims are
 * the live count k, everybody divides by k or more. Only then may the divisor fall to k, and the members that waited
 * begin.
 *
 * Worked: a and b agree on 2. c's record: live 3, so a and b divide by 3 at once and c waits. When a's, b's and c's
 * claims say 3, all three are served. c leaves: live 2, the divisor stays 3 until both claim 2.
 */
export class AgreedPool {
  divisor = 1;
  isAgreed = false;
  /** Rises whenever some member's part has changed. */
  changes = 0;
  readonly #claims = new Claims<NodeKey>();
  readonly #served = new Set<NodeKey>();

  /** A member gives a sign of life with its claim. 0 = it makes none, and then there is no agreement. */
  heard(nodeKey: NodeKey, claim: number): void {
    this.#claims.set(nodeKey, claim);
    this.#judge();
  }

  /** The first record of another life of a node: the new process has applied nothing of what the old one was given. */
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
   * Called when another log begins, in which no node has claimed anything. The divisor stays, because nodes go on
   * dividing by it, and it falls by agreement alone.
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
