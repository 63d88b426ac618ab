import type { Member } from './membership.js';

/**
 * The members that are alive on one partition, in order of NodeKey. They are put in order when they are asked for, not
 * by every record.
 */
export class AliveMembers {
  count = 0;
  /** Rises whenever one comes or goes. */
  changes = 0;
  /** Members looked at so far to put them in order: what a change of members costs, as a count. */
  steps = 0;
  /** In order of NodeKey, once `#isOrdered`; until then those that left, and newcomers at the end. */
  readonly #members: Member[] = [];
  #isOrdered = true;
  /** By slot of the member: its index; NOT_ALIVE; or WAITS, until newcomers are sorted in. */
  #indexes: Int32Array = new Int32Array(8).fill(NOT_ALIVE);
  /** By slot: 1 = it is among `#members`, though it may have left. */
  #isListed = new Uint8Array(8);

  get members(): readonly Member[] {
    if (!this.#isOrdered) this.#order();
    return this.#members;
  }

  has({ slot }: Member): boolean {
    return slot < this.#indexes.length && this.#indexes[slot] !== NOT_ALIVE;
  }

  /** Index of the member in a slot among those that are alive; −1 = it is not. */
  indexOf(slot: number): number {
    if (!this.#isOrdered) this.#order();
    return slot < this.#indexes.length ? this.#indexes[slot]! : NOT_ALIVE;
  }

  /** Returns whether the member was not alive before. */
  add(member: Member): boolean {
    const { slot } = member;
    if (this.has(member)) return false;
    if (slot >= this.#indexes.length) this.#grow(slot);
    this.#indexes[slot] = WAITS;
    // One that has left since the last sort is still among them.
    if (this.#isListed[slot] === 0) this.#members.push(member);
    this.#isListed[slot] = 1;
    this.count++;
    this.#changed();
    return true;
  }

  /** Returns whether the member was alive before. */
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

  /** Drops those that are not alive any more, and sorts newcomers in. */
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
    const length = 2 * slot;
    const indexes = new Int32Array(length).fill(NOT_ALIVE);
    indexes.set(this.#indexes);
    this.#indexes = indexes;
    const isListed = new Uint8Array(length);
    isListed.set(this.#isListed);
    this.#isListed = isListed;
  }
}

const NOT_ALIVE = -1;
/** The index of a newcomer that has not been sorted in. */
const WAITS = -2;
