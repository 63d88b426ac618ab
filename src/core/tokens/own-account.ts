/**
 * What one node took of one slot, compared with what everybody expects of it.
 *
 * All nodes extrapolate the use of every other one: what it is expected to take, and its part of the slack, which is
 * what nobody is expected to take and a full bucket cannot hold. The *charge* is what the node took beyond that, since
 * its life began. It falls while the node takes less. A report carries the charge as a sum, so a lost or late record
 * loses nothing.
 *
 * Rejected: to report counts of what was taken. What the slack had paid for became a debt, and nodes that had been far
 * below the quota used 62 to 96 % of it for a while.
 */
export class OwnAccount {
  /** Units since the life began; may be negative. */
  charge = 0;
  /** The charge in the newest own record that was read back: what the log knows. */
  knownCharge = 0;
  /** The charge in the newest own record, read back or not. */
  #toldCharge = 0;
  /** Units that were not taken when they were expected, and may be taken now without a report. */
  #credit = 0;

  /** What the log does not know of this node; negative: it took less than the log knows. */
  get unheard(): number {
    return this.charge - this.knownCharge;
  }

  /** What no record says; a record that may be lost is written again. */
  get untold(): number {
    return this.charge - this.#toldCharge;
  }

  /** A record says the charge now. */
  tell(): number {
    this.#toldCharge = this.charge;
    return this.charge;
  }

  /** The log knows a charge of this life that this account does not know. */
  resume(charge: number): void {
    this.charge += charge;
    this.knownCharge = charge;
    this.#toldCharge = charge;
  }

  /** The log knows no charge any more: the next record begins with what none has told. */
  forget(): void {
    this.charge = this.unheard;
    this.knownCharge = 0;
    this.#toldCharge = 0;
  }

  /** @param units taken; negative = a refund, which brings no credit */
  take(units: number): void {
    this.charge += units;
    if (units > 0) this.#credit = Math.max(0, this.#credit - units);
  }

  /** Time passes: the expected use is paid, and what is unheard is paid by this node's part of the slack. */
  pass(seconds: number, expectedPerSecond: number, slackPerSecond: number, creditMax: number): void {
    const expected = expectedPerSecond * seconds;
    this.charge -= expected;
    this.#credit = Math.min(creditMax, this.#credit + expected);
    if (this.unheard > 0) this.charge -= Math.min(this.unheard, slackPerSecond * seconds);
  }

  /** What this node did not take flows into the cluster's bucket; what has no room there is lost. */
  loseAbove(room: number): void {
    const lost = -this.unheard - room;
    if (lost > 0) this.charge += lost;
  }

  /** How much the node may take at once, when so many tokens of the cluster's bucket are its own to take. */
  takeable(fromCluster: number): number {
    const { unheard } = this;
    return fromCluster + (unheard < 0 ? Math.min(-unheard, this.#credit) : -unheard);
  }
}
