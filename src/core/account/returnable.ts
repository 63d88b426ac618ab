import type { LaneView } from '../convergence/strategy.js';
import type { ExpectedUse } from './expected-use.js';

/**
 * Bounds what each author may still give back of one slot: its charge falls when it takes less than expected, or when
 * what it had taken comes back. So it may fall by what it was expected to take, and by what it has charged, and by a
 * depth at most at a time. More is not believed: whoever might say anything could keep the bucket full, and all others
 * would admit more than the target.
 *
 * What all may give back together, and the tokens of the bucket, rise by no more than what flows in. Everybody who has
 * read the same of the log since an entry began knows the same of it, bit for bit. Whoever has begun later believes a
 * depth, so that it names nobody wrongly.
 *
 * An honest node keeps to the same figures (`OwnAccount.keepTo`), as far as it has read them: what others add to them
 * until its record is in the log makes them only larger.
 */
export class Returnable {
  /**
   * The authors by slot of the member, ascending: of each its slot, units, and units per second (see `useOf`). Typed
   * arrays of so few elements take two to three times as much, and so do three arrays.
   */
  #authors: number[] = [];

  /** Units; 0 for who is not known. */
  of(slot: number): number {
    const at = this.#find(slot);
    return at < 0 ? 0 : this.#authors[at + UNITS];
  }

  /** Computes what it will be after so much log time, if nobody writes until then. */
  later(slot: number, of: Passed): number {
    const at = this.#find(slot);
    return at < 0 ? 0 : grown(this.#authors[at + UNITS], this.#authors[at + USE], of);
  }

  /** An entry of this author begins: it has charged nothing, and nothing was expected of it. */
  begin(slot: number): void {
    const at = this.#reach(slot);
    this.#authors[at + UNITS] = 0;
  }

  /** Reads what is expected of everybody from now on. */
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

  /** Called where nobody is expected to take anything. */
  expectNothing(): void {
    for (let at = USE; at < this.#authors.length; at += WORDS) this.#authors[at] = 0;
  }

  /** Log time has passed. */
  settle(of: Passed): void {
    const authors = this.#authors;
    for (let at = 0; at < authors.length; at += WORDS) {
      const use = authors[at + USE];
      if (use !== 0) authors[at + UNITS] = grown(authors[at + UNITS], use, of);
    }
  }

  /** The author has charged so much, as it was applied. */
  charge(slot: number, units: number, depth: number): void {
    const at = this.#reach(slot) + UNITS;
    const before = this.#authors[at];
    this.#authors[at] = Math.max(before, Math.min(depth, before + units));
  }

  /** The author gives so much back. Returns what is believed of it. */
  giveBack(slot: number, units: number, depth: number): number {
    const at = this.#reach(slot) + UNITS;
    const known = this.#authors[at];
    const most = known === UNKNOWN ? depth : known;
    if (units > most + ROUNDED * depth) {
      this.#authors[at] = 0;
      return most;
    }
    this.#authors[at] = Math.max(0, most - units);
    return units;
  }

  /** Place of an author; where it is not known, −1 − the place that it would have. */
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

  /** Place of an author, who is known from now on. */
  #reach(slot: number): number {
    const found = this.#find(slot);
    if (found >= 0) return found;
    const at = -1 - found;
    // A copy has no room that nobody needs.
    this.#authors = this.#authors.toSpliced(at, 0, slot, UNKNOWN, 0);
    return at;
  }
}

/** Words of an author, and where they are; its slot is the first. */
const WORDS = 3;
const UNITS = 1;
const USE = 2;

/** A member that is alive, by this reader's number of it. */
export interface AliveNode {
  readonly slot: number;
}

/** Units that all have taken together in a while, and how they were divided among them. */
export interface Passed {
  readonly seconds: number;
  /** The part of what they want that met nodes took, and the part of their shares that throttled ones took. */
  readonly metPart: number;
  readonly throttledPart: number;
  readonly depth: number;
}

/** A smaller depth than before takes nothing away: a record on its way has been written by the larger one. */
function grown(units: number, use: number, { seconds, metPart, throttledPart, depth }: Passed): number {
  const took = (use > 0 ? use * metPart : -use * throttledPart) * seconds;
  return Math.max(units, Math.min(depth, units + took));
}

/** Bound of an author that was there before its bucket was followed, until a depth is known. */
const UNKNOWN = Infinity;
/** Charges are rounded sums: so many depths more may come back. A million such records would give a depth. */
const ROUNDED = 1e-6;
