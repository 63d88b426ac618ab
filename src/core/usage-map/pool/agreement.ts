/** Log's verdict on its pool size (Numaflow, "Consensus on Active Candidates"). */
export interface PoolVerdict {
  /** True = every live member claims the live count. */
  readonly isAgreed: boolean;
  readonly live: number;
}

/**
 * Counts the claims of the live members. Equal claims are not enough: Numaflow as shipped agrees on 3 for ever when one
 * of three leaves. The claimed size must also be the live count, as in Numaflow's text.
 *
 * *Worked:* claims 2, 2 of two members → agreed; 3, 3 of two → not agreed; 1, 3 of two → not agreed.
 */
export class Claims<Key> {
  readonly #claims = new Map<Key, number>();
  /** Members by claim; few distinct claims, so a thousand members cost no more than three. */
  readonly #counts = new Map<number, number>();

  has(key: Key): boolean {
    return this.#claims.has(key);
  }

  set(key: Key, claim: number): void {
    if (this.#claims.get(key) === claim) return;
    this.delete(key);
    this.#claims.set(key, claim);
    this.#counts.set(claim, (this.#counts.get(claim) ?? 0) + 1);
  }

  delete(key: Key): void {
    const claim = this.#claims.get(key);
    if (claim === undefined) return;
    this.#claims.delete(key);
    const left = (this.#counts.get(claim) as number) - 1;
    if (left === 0) this.#counts.delete(claim);
    else this.#counts.set(claim, left);
  }

  keys(): Iterable<Key> {
    return this.#claims.keys();
  }

  verdict(): PoolVerdict {
    const live = this.#claims.size;
    return { isAgreed: this.#counts.size === 1 && this.#counts.has(live), live };
  }
}

/**
 * Chooses the divisor after a verdict: the live count, without agreement at least the old divisor.
 *
 * *Why:* an honest claim is a live count that the log has shown, so all divide by it already. If claims raised the
 * divisor, one record with 4,294,967,295 in it would leave nobody anything.
 */
export function nextDivisor({ isAgreed, live }: PoolVerdict, divisor: number): number {
  return isAgreed ? live : Math.max(divisor, live);
}
