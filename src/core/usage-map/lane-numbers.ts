import { grown } from '../base/grown.js';
import { readWords, writeId } from '../base/ids.js';
import { KeyedHash } from '../base/keyed-hash.js';
import type { GroupId } from '../base/vocabulary.js';

/** One direction of one group, by the group's id in the log. */
export interface LaneIdentity {
  readonly groupId: GroupId;
  readonly direction: number;
}

/**
 * Gives lanes small numbers in order of first use: 0, 1, 2, …. A number is stable until it is freed. 100,000 lanes take
 * 3 MB; in a Map, whose keys would be strings, 12 MB. Writers to the topic choose ids, so a keyed hash chooses cells.
 */
export class LaneNumbers {
  /** By number: three words of the group's id. */
  #ids = new Uint32Array(ID_WORDS * INITIAL_LANES);
  /** By number: the direction, or FREE. */
  #directions = new Uint8Array(INITIAL_LANES);
  /** By cell: number + 1 of its first lane; 0 = none. */
  #cells = new Int32Array(INITIAL_LANES);
  /** By number: number + 1 of the cell's next lane; 0 = none. */
  #next = new Int32Array(INITIAL_LANES);
  #count = 0;
  readonly #free: number[] = [];
  readonly #hash: KeyedHash;
  /** Other lanes met so far in look-ups: the cost of crowding, as a count. */
  met = 0;

  /** @param hashSeed see KeyedHash */
  constructor(hashSeed = 0) {
    this.#hash = new KeyedHash(hashSeed);
  }

  get count(): number {
    return this.#count - this.#free.length;
  }

  /** Finds the number of a lane, or gives it one. */
  of(groupId: GroupId, direction: number): number {
    const [first, second, third] = readWords(groupId);
    const number = this.#find(first, second, third, direction);
    return number === -1 ? this.#add(first, second, third, direction) : number;
  }

  /** Finds the number of a lane; −1 = none. */
  find(groupId: GroupId, direction: number): number {
    const [first, second, third] = readWords(groupId);
    return this.#find(first, second, third, direction);
  }

  laneOf(number: number): LaneIdentity {
    const at = ID_WORDS * number;
    const groupId = writeId(this.#ids[at], this.#ids[at + 1], this.#ids[at + 2]);
    return { groupId, direction: this.#directions[number] };
  }

  free(isUsed: (number: number) => boolean): void {
    for (let number = 0; number < this.#count; number++) {
      if (this.#directions[number] === FREE || isUsed(number)) continue;
      this.#directions[number] = FREE;
      this.#free.push(number);
    }
    this.#fillCells();
  }

  #find(first: number, second: number, third: number, direction: number): number {
    const ids = this.#ids;
    let number = this.#cells[this.#cellOf(first, second, third, direction)] - 1;
    for (; number !== -1; number = this.#next[number] - 1) {
      const at = ID_WORDS * number;
      const isGroup = ids[at] === first && ids[at + 1] === second && ids[at + 2] === third;
      if (isGroup && this.#directions[number] === direction) return number;
      this.met++;
    }
    return -1;
  }

  #add(first: number, second: number, third: number, direction: number): number {
    const number = this.#free.pop() ?? this.#count++;
    this.#ids[ID_WORDS * number] = first;
    this.#ids[ID_WORDS * number + 1] = second;
    this.#ids[ID_WORDS * number + 2] = third;
    this.#directions[number] = direction;
    this.#fillCell(number);
    if (this.#count === this.#directions.length) this.#grow();
    return number;
  }

  #grow(): void {
    const lanes = 2 * this.#directions.length;
    this.#ids = grown(this.#ids, ID_WORDS * lanes);
    this.#directions = grown(this.#directions, lanes);
    this.#next = new Int32Array(lanes);
    this.#cells = new Int32Array(lanes);
    this.#fillCells();
  }

  #fillCells(): void {
    this.#cells.fill(0);
    for (let number = 0; number < this.#count; number++) {
      if (this.#directions[number] !== FREE) this.#fillCell(number);
    }
  }

  #fillCell(number: number): void {
    const [ids, at] = [this.#ids, ID_WORDS * number];
    const cell = this.#cellOf(ids[at], ids[at + 1], ids[at + 2], this.#directions[number]);
    this.#next[number] = this.#cells[cell];
    this.#cells[cell] = number + 1;
  }

  #cellOf(first: number, second: number, third: number, direction: number): number {
    return this.#hash.of(first, second, third, direction) & (this.#cells.length - 1);
  }
}

const ID_WORDS = 3;
const INITIAL_LANES = 64;
/** Direction of a free number. */
const FREE = 255;
