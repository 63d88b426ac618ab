import { grown } from '../base/grown.js';
import type { Member } from './membership.js';

/** Holds the alive members of one partition in order of NodeKey. They are sorted when read, not by every record. */
export class AliveMembers {
  count = 0;
  /** Number of joins and departures. */
  changes = 0;
  /** Members looked at so far for sorting: the cost of changes, as a count. */
  steps = 0;
  /** Sorted once `#isOrdered`; until then with departed members, and newcomers at the end. */
  readonly #members: Member[] = [];
  #isOrdered = true;
  /** Index by the member's slot; NOT_ALIVE, or WAITS = not sorted in yet. */
  #indexes: Int32Array = new Int32Array(8).fill(NOT_ALIVE);
  /** By slot: 1 = listed in `#members`, though it may have left. */
  #isListed = new Uint8Array(8);

  get members(): readonly Member[] {
    if (!this.#isOrdered) this.#order();
    return this.#members;
  }

  has({ slot }: Member): boolean {
    return slot < this.#indexes.length && this.#indexes[slot] !== NOT_ALIVE;
  }

  /** Finds a slot's index among the alive members; −1 = not alive. */
  indexOf(slot: number): number {
    if (!this.#isOrdered) this.#order();
    return slot < this.#indexes.length ? this.#indexes[slot]! : NOT_ALIVE;
  }

  /** Adds a member; returns true if it was not alive before. */
  add(member: Member): boolean {
    const { slot } = member;
    if (this.has(member)) return false;
    if (slot >= this.#indexes.length) this.#grow(slot);
    this.#indexes[slot] = WAITS;
    // A member that left since the last sort is still listed.
    if (this.#isListed[slot] === 0) this.#members.push(member);
    this.#isListed[slot] = 1;
    this.count++;
    this.#changed();
    return true;
  }

  /** Removes a member; returns true if it was alive before. */
  remove(member: Member): boolean {
    if (!this.has(member)) return false;
    this.#indexes[member.slot] = NOT_ALIVE;
    this.count--;
    this.#changed();
    return true;
  }

  clear(): void {
    for (const member of this.members) this.#indexes[member.slot] = NOT_ALIVE;
    this.count = 0;
    this.#changed();
    this.#order();
  }

  #changed(): void {
    this.changes++;
    this.#isOrdered = false;
  }

  /** Drops departed members, and sorts newcomers in. */
  #order(): void {
    this.#isOrdered = true;
    this.steps += this.#members.length;
    let kept = 0;
    for (const member of this.#members) {
      if (this.#indexes[member.slot] !== NOT_ALIVE) this.#members[kept++] = member;
      else this.#isListed[member.slot] = 0;
    }
    this.#members.length = kept;
    this.#members.sort((one, other) => one.nodeKey - other.nodeKey);
    for (const [at, { slot }] of this.#members.entries()) this.#indexes[slot] = at;
  }

  #grow(slot: number): void {
    this.#indexes = grown(this.#indexes, 2 * slot, NOT_ALIVE);
    this.#isListed = grown(this.#isListed, 2 * slot);
  }
}

const NOT_ALIVE = -1;
/** Index of a newcomer before sorting. */
const WAITS = -2;
