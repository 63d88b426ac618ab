import type { LaneView } from '../convergence/strategy.js';
import type { ExpectedUse } from './expected-use.js';

/**
 * What each author may still give back of one slot: its charge falls when it takes less than expected, or when what it
 * had taken comes back. So it may fall by what it was expected to take, and by what it has charged, and by a depth at
 * most at a time. More is not believed: whoever might say anything could keep the bucket full, and all others would
 * admit more than the target.
 *
 * What all may give back together, and the tokens of the bucket, rise by no more than what flows in. Everybody who has
 * read the same of the log since an entry began knows the same of it, bit for bit. Whoever has begun later believes a
 * depth, so that it names nobody wrongly.
 *
 * An honest node keeps to the same figures (`OwnAccount.keepTo`), as far as it has read them: what others add to them
 * until its record is in the log makes them only larger.
 */
export class Returnable {
  /** By slot of the member, units. */
  #units = NONE;
  /** By slot of the member, units per second: what a met node wants, the share of a throttled one below 0. */
  #uses = NONE;

  /** Units; 0 for who is not known. */
  of(slot: number): number {
    return this.#units[slot] ?? 0;
  }

  /** What it will be after so much log time, if nobody writes until then. */
  later(slot: number, of: Passed): number {
    return grown(this.of(slot), this.#uses[slot] ?? 0, of);
  }

  /** An entry of this author begins: it has charged nothing, and nothing was expected of it. */
  begin(slot: number): void {
    this.#reach(slot);
    this.#units[slot] = 0;
  }

  /** Reads what is expected of everybody from now on. */
  view(view: LaneView, alive: readonly AliveNode[], dimension: number, expected: ExpectedUse, depth: number): void {
    this.#uses.fill(0);
    for (let at = 0; at < view.count; at++) {
      const { slot } = alive[at] as AliveNode;
      const use = expected.useOf(view, at, dimension);
      if (use === 0 && slot >= this.#uses.length) continue;
      this.#reach(slot);
      this.#uses[slot] = use;
    }
    const units = this.#units;
    for (let slot = 0; slot < units.length; slot++) if (units[slot] === UNKNOWN) units[slot] = depth;
  }

  /** Called where nobody is expected to take anything. */
  expectNothing(): void {
    this.#uses.fill(0);
  }

  /** Log time has passed. */
  settle(of: Passed): void {
    const units = this.#units;
    const uses = this.#uses;
    for (let slot = 0; slot < units.length; slot++) {
      const use = uses[slot] as number;
      if (use !== 0) units[slot] = grown(units[slot] as number, use, of);
    }
  }

  /** The author has charged so much, as it was applied. */
  charge(slot: number, units: number, depth: number): void {
    this.#reach(slot);
    const before = this.#units[slot] as number;
    this.#units[slot] = Math.max(before, Math.min(depth, before + units));
  }

  /** The author gives so much back. Returns what is believed of it. */
  giveBack(slot: number, units: number, depth: number): number {
    this.#reach(slot);
    const known = this.#units[slot] as number;
    const most = known === UNKNOWN ? depth : known;
    if (units > most + ROUNDED * depth) {
      this.#units[slot] = 0;
      return most;
    }
    this.#units[slot] = Math.max(0, most - units);
    return units;
  }

  #reach(slot: number): void {
    const { length } = this.#units;
    if (slot < length) return;
    // One node more at a time; a cluster does not grow often.
    const units = new Float64Array(slot + 1).fill(UNKNOWN, length);
    units.set(this.#units);
    this.#units = units;
    const uses = new Float64Array(slot + 1);
    uses.set(this.#uses);
    this.#uses = uses;
  }
}

/** A member that is alive, by this reader's number of it. */
export interface AliveNode {
  readonly slot: number;
}

/** What all have taken together in a while, and how it was divided among them. */
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

/** Most lanes have no rows in one of their dimensions. */
const NONE = new Float64Array(0);
/** What an author that was there before its bucket was followed may give back, until a depth is known. */
const UNKNOWN = Number.POSITIVE_INFINITY;
/** Charges are rounded sums: so many depths more may come back. A million such records would give a depth. */
const ROUNDED = 1e-6;
