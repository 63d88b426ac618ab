import type { NodeKey } from '../base/vocabulary.js';
import { Claims, nextDivisor } from './agreement.js';

/**
 * The pool that `equal` divides by, as a function of the membership partition's log: members join with a claim, say
 * another one when they have applied it, and go. Everybody divides by `divisor`; who has joined since the last
 * agreement waits.
 *
 * Why no moment has Σ 1/divisor > 1: a member applies the larger divisor before it claims it, so when all claims are
 * the live count k, everybody divides by k or more. Only then the divisor may fall to k, and who has waited may begin.
 *
 * Worked: a and b agree on 2. c's record: live 3, so a and b divide by 3 at once and c waits. When a's, b's and c's
 * claims say 3, all three are served. c leaves: live 2, the divisor stays 3 until both claim 2.
 */
export class AgreedPool {
  divisor = 1;
  isAgreed = false;
  /** Rises whenever somebody's part has changed. */
  changes = 0;
  readonly #claims = new Claims<NodeKey>();
  readonly #served = new Set<NodeKey>();

  /** A sign of life with a claim; 0 = it has none, and nobody agrees with it. */
  heard(nodeKey: NodeKey, claim: number): void {
    this.#claims.set(nodeKey, claim);
    this.#judge();
  }

  /** The first record of another life: whatever the node was given, the new process has not applied. */
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
