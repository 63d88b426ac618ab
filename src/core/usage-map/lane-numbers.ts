import { readWords, writeId } from '../base/ids.js';
import type { GroupId } from '../base/vocabulary.js';

/** One direction of one group, by the id that the log has for it. */
export interface LaneIdentity {
  readonly groupId: GroupId;
  readonly direction: number;
}

/**
 * Gives lanes small numbers in the order in which they are first asked for: 0, 1, 2, …. A number is stable until it is
 * freed. The table uses open addressing: 100,000 lanes take 3 MB; in a Map, whose keys would be strings, 12 MB.
 */
export class LaneNumbers {
  /** By number: the three words of the group's id. */
  #ids = new Uint32Array(ID_WORDS * INITIAL_LANES);
  /** By number: the direction, or FREE. */
  #directions = new Uint8Array(INITIAL_LANES);
  /** Number + 1, or 0 = free. There are twice as many cells as lanes, so a search ends after two or three steps. */
  #cells = new Int32Array(2 * INITIAL_LANES);
  #count = 0;
  readonly #free: number[] = [];

  /** Numbers in use. */
  get count(): number {
    return this.#count - this.#free.length;
  }

  /** Finds the number of a lane, or gives it one. */
  of(groupId: GroupId, direction: number): number {
    const [first, second, third] = readWords(groupId);
    const cell = this.#cellOf(first, second, third, direction);
    const number = this.#cells[cell] - 1;
    return number === -1 ? this.#add(first, second, third, direction, cell) : number;
  }

  /** Finds the number of a lane; −1 if nobody has asked for it yet. */
  find(groupId: GroupId, direction: number): number {
    const [first, second, third] = readWords(groupId);
    return this.#cells[this.#cellOf(first, second, third, direction)] - 1;
  }

  /** Finds the lane of a number in use. */
  laneOf(number: number): LaneIdentity {
    const at = ID_WORDS * number;
    const groupId = writeId(this.#ids[at], this.#ids[at + 1], this.#ids[at + 2]);
    return { groupId, direction: this.#directions[number] };
  }

  /** Frees the numbers of lanes that nobody uses any more. */
  free(isUsed: (number: number) => boolean): void {
    for (let number = 0; number < this.#count; number++) {
      if (this.#directions[number] === FREE || isUsed(number)) continue;
      this.#directions[number] = FREE;
      this.#free.push(number);
    }
    this.#cells.fill(0);
    this.#fillCells();
  }

  /** Finds the cell where a lane is, or where it belongs. */
  #cellOf(first: number, second: number, third: number, direction: number): number {
    const ids = this.#ids;
    let cell = this.#homeOf(third, direction);
    for (;;) {
      const number = this.#cells[cell] - 1;
      if (number === -1) return cell;
      const at = ID_WORDS * number;
      const isGroup = ids[at] === first && ids[at + 1] === second && ids[at + 2] === third;
      if (isGroup && this.#directions[number] === direction) return cell;
      cell = (cell + 1) & (this.#cells.length - 1);
    }
  }

  #add(first: number, second: number, third: number, direction: number, cell: number): number {
    const number = this.#free.pop() ?? this.#count++;
    this.#ids[ID_WORDS * number] = first;
    this.#ids[ID_WORDS * number + 1] = second;
    this.#ids[ID_WORDS * number + 2] = third;
    this.#directions[number] = direction;
    this.#cells[cell] = number + 1;
    if (this.#count === this.#directions.length) this.#grow();
    return number;
  }

  #grow(): void {
    const [ids, directions] = [this.#ids, this.#directions];
    this.#ids = new Uint32Array(2 * ids.length);
    this.#ids.set(ids);
    this.#directions = new Uint8Array(2 * directions.length);
    this.#directions.set(directions);
    this.#cells = new Int32Array(4 * directions.length);
    this.#fillCells();
  }

  #fillCells(): void {
    for (let number = 0; number < this.#count; number++) {
      const direction = this.#directions[number];
      if (direction === FREE) continue;
      let cell = this.#homeOf(this.#ids[ID_WORDS * number + 2], direction);
      while (this.#cells[cell] !== 0) cell = (cell + 1) & (this.#cells.length - 1);
      this.#cells[cell] = number + 1;
    }
  }

  /** Chooses by the last bits of the id, which are those of a hash, mixed for ids that somebody has made up. */
  #homeOf(third: number, direction: number): number {
    const mixed = Math.imul(third + direction, 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & (this.#cells.length - 1);
  }
}

const ID_WORDS = 3;
const INITIAL_LANES = 64;
/** The direction of a free number. */
const FREE = 255;
