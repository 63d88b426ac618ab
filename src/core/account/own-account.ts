/**
 * Counts what one node took of one slot, compared with what everybody expects of it.
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
  /** Units that were taken, and are charged later: see `owe`. */
  owed = 0;
  /** True while the log holds an entry of this node for the lane. */
  hasEntry = false;
  /** The charge in the newest own record, read back or not. */
  #publishedCharge = 0;
  /** The highest charge among the own records that may not have been read back yet. */
  #highestPublished = 0;
  /** Units that were not taken when they were expected, and may be taken now without a report. */
  #credit = 0;
  /** Units that came back and no record that was read back says: they may be taken now. */
  #cameBack = 0;
  /** Units that were taken of this node's part of a silent key, and no record that was read back says. */
  #silent = 0;

  /** Units that the log does not know of this node; negative: it took less than the log knows. */
  get unread(): number {
    return this.charge - this.knownCharge;
  }

  /** Units that no record says; a record that may be lost is written again. */
  get unpublished(): number {
    return this.charge - this.#publishedCharge;
  }

  /** A record says the charge now. */
  publish(): number {
    this.#publishedCharge = this.charge;
    this.#highestPublished = Math.max(this.#highestPublished, this.charge);
    return this.charge;
  }

  /** An own record has been read back. */
  readBack(charge: number): void {
    this.knownCharge = charge;
    this.hasEntry = true;
    this.#silent = 0;
    if (charge === this.#publishedCharge) this.#highestPublished = charge;
  }

  /** So many of the units that are taken next were taken of this node's part of a silent key. */
  takeSilent(units: number): void {
    this.#silent = units;
  }

  /** The log knows a charge of this life that this account does not know. */
  resume(charge: number): void {
    this.charge += charge;
    this.knownCharge = charge;
    this.#publishedCharge = charge;
    this.#highestPublished = charge;
    this.hasEntry = true;
  }

  /**
   * The log knows no charge any more: the next record begins with what none has told. What was given back is lost,
   * because whoever begins may give nothing back.
   */
  forget(): void {
    this.charge = Math.max(0, this.unread);
    this.knownCharge = 0;
    this.#publishedCharge = 0;
    this.#highestPublished = 0;
    this.hasEntry = false;
  }

  /** @param units taken; negative = so many came back, and may be taken again */
  take(units: number): void {
    this.charge += units;
    const beyondCredit = units < 0 ? units : Math.max(0, units - this.#credit);
    if (units > 0) this.#credit = Math.max(0, this.#credit - units);
    this.#cameBack = Math.max(0, this.#cameBack - beyondCredit);
  }

  /** Pays for what is unread by what a full bucket lost of this node's part of the slack. */
  payBySlack(units: number): void {
    if (this.unread > 0) this.charge -= Math.min(this.unread, units);
  }

  /** Time passes: the expected use is paid. */
  pass(seconds: number, expectedPerSecond: number, creditMax: number): void {
    const expected = expectedPerSecond * seconds;
    this.#cameBack = Math.min(this.#cameBack, Math.max(0, -this.unread));
    this.charge -= expected;
    this.#credit = Math.min(creditMax, this.#credit + expected);
  }

  /**
   * Loses what this node did not take and has no room in the cluster's bucket. What a record says
   * already is not lost here: the bucket takes of it what it has room for, by the log. If it were lost twice, the next
   * record would charge for it: 45 nodes that rested together took six depths from a full bucket so.
   */
  loseAbove(room: number): void {
    const onItsWay = Math.max(0, this.knownCharge - this.#publishedCharge);
    const lost = -this.unpublished - Math.max(0, room - onItsWay);
    if (lost > 0) this.charge += lost;
  }

  /**
   * Keeps what the cluster's bucket does not bear as the node's debt. It is paid of what the node may take from now on;
   * what exceeds `owedMax` is let off.
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

  /** So many units are not taken, and pay what is owed. Returns how many of them do. */
  pay(units: number): number {
    const paid = Math.min(this.owed, Math.max(0, units));
    this.owed -= paid;
    this.take(paid);
    return paid;
  }

  /** Loses what comes back beyond what others accept of this node (Returnable). */
  keepTo(returnable: number, depth: number): void {
    const least = Math.max(this.knownCharge - returnable, this.#highestPublished - depth);
    if (this.charge < least) this.charge = least;
  }

  /**
   * Computes how much the node may take at once, when so many tokens of the cluster's bucket are its own to take, and
   * so many of those that came back to it. What it took of a silent key was of a part that others leave to it, and
   * takes nothing from that until the log knows it, as long as all is no more than its part of a full bucket.
   *
   * *Worked:* three nodes, 60 per hour. One has told 21, and 39 are left. Another took its 20 silently: of 39 it may
   * take half, 19; without this it might take none until its record is back.
   *
   * @param whole what it may take of a full bucket, and of those that came back to it
   */
  takeable(fromCluster: number, whole: number, cameBackMax: number): number {
    const { unread } = this;
    if (unread >= 0) return Math.max(fromCluster, Math.min(whole, fromCluster + this.#silent)) - unread;
    return fromCluster + Math.min(-unread, this.#credit + Math.min(this.#cameBack, cameBackMax));
  }
}
