import type { LaneView } from '../convergence/strategy.js';
import { RETURN_SLACK_DEPTHS } from './constants.js';
import type { ExpectedUse } from './expected-use.js';

/**
 * Bounds the units that each author may still give back. Its charge falls when it takes less than expected, or when
 * units are given back. So it may fall by its expected use and by its charges, and by a depth at a time. Units beyond
 * that are not accepted: false records could keep the bucket full, and all others would admit more than the target
 * (docs/decisions/0070).
 *
 * All units given back together, and the tokens of the bucket, rise by no more than the inflow. All nodes that have
 * read the log since an entry began compute the same bound, bit for bit. A node that began later accepts a depth, so
 * that it accuses no author wrongly.
 *
 * An honest node keeps to the same bounds (`OwnAccount.keepTo`), as far as it has read: records of others only raise
 * them until its own record is in the log.
 */
export class Returnable {
  /**
   * The authors by slot of the member, ascending: of each its slot, units, and units per second (see `useOf`). Typed
   * arrays of so few elements take two to three times the memory, and so do three arrays.
   */
  #authors: number[] = [];

  /** Units that an author may give back; 0 without an entry here. */
  of(slot: number): number {
    const at = this.#find(slot);
    return at < 0 ? 0 : this.#authors[at + UNITS];
  }

  /** Computes the bound after this log time, if nobody writes until then. */
  later(slot: number, of: Passed): number {
    const at = this.#find(slot);
    return at < 0 ? 0 : grown(this.#authors[at + UNITS], this.#authors[at + USE], of);
  }

  /** Begins an entry of an author, without charges and expected use. */
  begin(slot: number): void {
    const at = this.#reach(slot);
    this.#authors[at + UNITS] = 0;
  }

  /** Reads the expected use of all nodes from now on. */
  view(view: LaneView, alive: readonly AliveNode[], dimension: number, expected: ExpectedUse, depth: number): void {
    this.expectNothing();
    for (let at = 0; at < view.count; at++) {
      const use = expected.useOf(view, at, dimension);
      const node = view.node[at];
      // A node without a row wants nothing.
      if (use === 0 || node === -1) continue;
      const author = this.#reach(alive[node].slot);
      this.#authors[author + USE] = use;
    }
    const authors = this.#authors;
    for (let at = UNITS; at < authors.length; at += WORDS) if (authors[at] === UNKNOWN) authors[at] = depth;
  }

  /** Called where no use is expected. */
  expectNothing(): void {
    for (let at = USE; at < this.#authors.length; at += WORDS) this.#authors[at] = 0;
  }

  settle(of: Passed): void {
    const authors = this.#authors;
    for (let at = 0; at < authors.length; at += WORDS) {
      const use = authors[at + USE];
      if (use !== 0) authors[at + UNITS] = grown(authors[at + UNITS], use, of);
    }
  }

  /** Adds an author's charge, as it was applied. */
  charge(slot: number, units: number, depth: number): void {
    const at = this.#reach(slot) + UNITS;
    const before = this.#authors[at];
    this.#authors[at] = Math.max(before, Math.min(depth, before + units));
  }

  /** Takes units that an author gives back. Returns the accepted ones. */
  giveBack(slot: number, units: number, depth: number): number {
    const at = this.#reach(slot) + UNITS;
    const known = this.#authors[at];
    const most = known === UNKNOWN ? depth : known;
    if (units > most + RETURN_SLACK_DEPTHS * depth) {
      this.#authors[at] = 0;
      return most;
    }
    this.#authors[at] = Math.max(0, most - units);
    return units;
  }

  /** Finds the index of an author, or −1 − its future index. */
  #find(slot: number): number {
    let low = 0;
    let high = this.#authors.length / WORDS - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const here = this.#authors[WORDS * middle];
      if (here === slot) return WORDS * middle;
      if (here < slot) low = middle + 1;
      else high = middle - 1;
    }
    return -1 - WORDS * low;
  }

  /** Finds the index of an author, and adds it where missing. */
  #reach(slot: number): number {
    const found = this.#find(slot);
    if (found >= 0) return found;
    const at = -1 - found;
    // A copy has no spare room.
    this.#authors = this.#authors.toSpliced(at, 0, slot, UNKNOWN, 0);
    return at;
  }
}

/** Words of an author, and the indexes behind its slot. */
const WORDS = 3;
const UNITS = 1;
const USE = 2;

/** A member that is alive, by this reader's number. */
export interface AliveNode {
  readonly slot: number;
}

/** Units of all nodes in a time, by kind of node. */
export interface Passed {
  readonly seconds: number;
  /** Part of their demands that met nodes took; below, of their shares that throttled ones took. */
  readonly metPart: number;
  readonly throttledPart: number;
  readonly depth: number;
}

/** Adds the use of a time to a bound. A smaller depth takes nothing away: a record may be of the larger one. */
function grown(units: number, use: number, { seconds, metPart, throttledPart, depth }: Passed): number {
  const took = (use > 0 ? use * metPart : -use * throttledPart) * seconds;
  return Math.max(units, Math.min(depth, units + took));
}

/** Bound of an author with an older entry, until the first view. */
const UNKNOWN = Infinity;
