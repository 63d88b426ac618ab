/**
 * Counts one node's use of one slot against its expected use.
 *
 * All nodes extrapolate each other's use: the expected use, and each node's part of the slack: inflow that nobody is
 * expected to use, while the bucket is full. The *charge* is the node's use beyond that, since its life began.
 * It falls while the node takes less. A report carries the charge as a sum, so a lost or late record loses nothing.
 *
 * Rejected: to report counts of use. Use that the slack had paid for became a debt (docs/decisions/0070).
 */
export class OwnAccount {
  /** Units since the life began; may be negative. */
  charge = 0;
  /** Units of charge that the log holds: those of the newest own record read back. */
  knownCharge = 0;
  /** Units that were taken and are charged later (`owe`). */
  owed = 0;
  /** True while the log holds this node's entry for the lane. */
  hasEntry = false;
  /** The charge in the newest own record, read back or not. */
  #publishedCharge = 0;
  /** The highest charge among own records that may be unread. */
  #highestPublished = 0;
  /** Units of expected use that may be taken later without a report. */
  #credit = 0;
  /** Units given back that no record read back holds: they may be taken now. */
  #cameBack = 0;
  /** Units of a silent key's part that no record read back holds. */
  #silent = 0;

  /** Units that the log does not hold of this node; negative: the node took less. */
  get unread(): number {
    return this.charge - this.knownCharge;
  }

  /** True = an unread own record charges units that have come back. */
  get isOvercharged(): boolean {
    return this.#highestPublished > this.charge;
  }

  /** Units that no record holds; a record that may be lost is written again. */
  get unpublished(): number {
    return this.charge - this.#publishedCharge;
  }

  /** Notes that a record carries the charge, and returns it. */
  publish(): number {
    this.#publishedCharge = this.charge;
    this.#highestPublished = Math.max(this.#highestPublished, this.charge);
    return this.charge;
  }

  readBack(charge: number): void {
    this.knownCharge = charge;
    this.hasEntry = true;
    this.#silent = 0;
    if (charge === this.#publishedCharge) this.#highestPublished = charge;
  }

  /** Counts the next units taken as parts of a silent key. */
  takeSilent(units: number): void {
    this.#silent = units;
  }

  /** Takes over a charge of this life that only the log holds. */
  resume(charge: number): void {
    this.charge += charge;
    this.knownCharge = charge;
    this.#publishedCharge = charge;
    this.#highestPublished = charge;
    this.hasEntry = true;
  }

  /**
   * Begins anew where the log holds no charge: the next record carries the unread one. Units given back are lost,
   * because the first record of an entry may give nothing back.
   */
  forget(): void {
    this.charge = Math.max(0, this.unread);
    this.knownCharge = 0;
    this.#publishedCharge = 0;
    this.#highestPublished = 0;
    this.hasEntry = false;
  }

  /** @param units taken; negative = given back, to be taken again */
  take(units: number): void {
    this.charge += units;
    const beyondCredit = units < 0 ? units : Math.max(0, units - this.#credit);
    if (units > 0) this.#credit = Math.max(0, this.#credit - units);
    this.#cameBack = Math.max(0, this.#cameBack - beyondCredit);
  }

  /**
   * Sets the units that the log lacks: this node counts the bucket itself.
   *
   * @param taken units since the last call, which `units` contains; negative = given back
   */
  setUnread(units: number, taken: number): void {
    this.charge = this.knownCharge + units;
    this.#cameBack = Math.max(0, this.#cameBack - taken);
    this.#boundCameBack();
  }

  /** Pays unread units by the slack that a full bucket lost. */
  payBySlack(units: number): void {
    if (this.unread > 0) this.charge -= Math.min(this.unread, units);
  }

  /** Pays the expected use of this time. */
  pass(seconds: number, expectedPerSecond: number, creditMax: number): void {
    const expected = expectedPerSecond * seconds;
    this.#boundCameBack();
    this.charge -= expected;
    this.#credit = Math.min(creditMax, this.#credit + expected);
  }

  #boundCameBack(): void {
    this.#cameBack = Math.min(this.#cameBack, Math.max(0, -this.unread, -this.unpublished));
  }

  /**
   * Loses unused units that the cluster's bucket has no room for. Those in a record already are not lost here: by the
   * log the bucket takes as many as it has room for. If they were lost twice, the next record would charge for them.
   * A charge that is on its way makes room for what is given back of it, but for no expected use that was not taken.
   */
  loseAbove(room: number): void {
    const givesBack = Math.max(this.knownCharge - this.#publishedCharge, -this.#cameBack);
    const lost = -this.unpublished - Math.max(0, room - givesBack);
    if (lost > 0) this.charge += lost;
  }

  /**
   * Turns units that the cluster's bucket does not bear into debt. Later units pay for it; units beyond `owedMax` are
   * let off.
   *
   * @param units taken that may be owed
   * @param most unread units that the bucket bears
   * @returns the units that are let off
   */
  owe(units: number, most: number, owedMax: number): number {
    const beyond = Math.min(units, this.unpublished, this.unread - Math.max(0, most));
    if (!(beyond > 0)) return 0;
    this.charge -= beyond;
    const before = this.owed;
    // A debt is not let off when the bound falls.
    this.owed = Math.max(before, Math.min(owedMax, before + beyond));
    return beyond - (this.owed - before);
  }

  /** Pays the debt with units that the node does not take. Returns the units paid. */
  pay(units: number): number {
    const paid = Math.min(this.owed, Math.max(0, units));
    this.owed -= paid;
    this.take(paid);
    return paid;
  }

  /** Loses units given back beyond those that others accept (Returnable). */
  keepTo(returnable: number, depth: number): void {
    const least = Math.max(this.knownCharge - returnable, this.#highestPublished - depth);
    if (this.charge < least) this.charge = least;
  }

  /**
   * Computes the units that the node may take at once. Its use of a silent key was a part that others leave to it, and
   * reduces nothing until the log holds it, as long as all is no more than its part of a full bucket.
   *
   * *Worked:* three nodes, 60 per hour. One has published 21, and 39 are left. Another took its 20 silently: of 39 it
   * may take half, 19; without this it might take none until its record is back.
   *
   * @param fromCluster tokens of the cluster's bucket that are its own to take
   * @param whole its part of a full bucket
   * @param cameBackMax bound of units given back to it
   */
  takeable(fromCluster: number, whole: number, cameBackMax: number): number {
    const { unread } = this;
    if (unread >= 0) return Math.max(fromCluster, Math.min(whole, fromCluster + this.#silent)) - unread;
    return fromCluster + Math.min(-unread, this.#credit + Math.min(this.#cameBack, cameBackMax));
  }
}
