/**
 * What one node took of a lane, compared with what everybody expects of it, in one dimension.
 *
 * All nodes extrapolate the use of every other one: what it is expected to take, and its part of the slack, which is
 * what nobody is expected to take. The *charge* is what the node took beyond that, since the beginning of its life. It
 * falls while the node takes less. A report carries the charge as a sum, so a lost or late record loses nothing.
 */
export class OwnAccount {
  /** Units, since the life began; may be negative. */
  charge = 0;
  /** The charge in the newest own record that was read back: what the log knows. */
  knownCharge = 0;
  /** The charge in the newest own record, read back or not. */
  #toldCharge = 0;
  /** Units that were not taken when they were expected, and may be taken now without a report; ≤ `creditMax`. */
  credit = 0;

  /** What the log does not know of this node yet; negative: it took less than it knows. */
  get unheard(): number {
    return this.charge - this.knownCharge;
  }

  /** What no record says yet; one that is lost is written again. */
  get untold(): number {
    return this.charge - this.#toldCharge;
  }

  /** A record says the charge now. */
  tell(): number {
    this.#toldCharge = this.charge;
    return this.charge;
  }

  /**
   * Time passes. The expected use is paid; what is unheard is paid by this node's part of the slack; and when the
   * cluster's bucket is full, what was not taken is lost, as a full bucket loses it.
   */
  pass(seconds: number, { expected, slack, creditMax, clusterTokens, clusterDepth }: Flow): void {
    this.charge -= expected * seconds;
    this.credit = Math.min(creditMax, this.credit + expected * seconds);
    if (this.unheard > 0) this.charge -= Math.min(this.unheard, slack * seconds);
    const lost = clusterTokens - clusterDepth - this.unheard;
    if (lost > 0) this.charge += lost;
  }

  forget(): void {
    this.charge = 0;
    this.knownCharge = 0;
    this.#toldCharge = 0;
  }

  /** @param units taken; negative = a refund, which returns no credit */
  take(units: number): void {
    this.charge += units;
    if (units > 0) this.credit = Math.max(0, this.credit - units);
  }

  /** How much the node may take at once, when `fromCluster` tokens of the cluster's bucket are its own to take. */
  takeable(fromCluster: number): number {
    const { unheard } = this;
    return fromCluster + (unheard < 0 ? Math.min(-unheard, this.credit) : -unheard);
  }
}

/** Units per second, and units. */
interface Flow {
  readonly expected: number;
  readonly slack: number;
  readonly creditMax: number;
  readonly clusterTokens: number;
  readonly clusterDepth: number;
}
