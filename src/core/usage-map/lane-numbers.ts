/**
 * Gives lanes small numbers in the order in which they are first asked for: 0, 1, 2, …. A number is stable until it is
 * freed. The table uses open addressing: 100,000 lanes take 2 MB; in a Map, whose keys of 49 bits would be objects,
 * they took 5.3 MB.
 */
export class LaneNumbers {
  #keys = new Float64Array(INITIAL_LANES);
  /** Number + 1, or 0 = free. There are twice as many cells as lanes, so a search ends after two or three steps. */
  #cells = new Int32Array(2 * INITIAL_LANES);
  #count = 0;
  readonly #free: number[] = [];

  /** Numbers in use. */
  get count(): number {
    return this.#count - this.#free.length;
  }

  /** @param key an integer ≥ 0, below 2^53 */
  of(key: number): number {
    const cell = this.#cellOf(key);
    const number = (this.#cells[cell] as number) - 1;
    return number === -1 ? this.#add(key, cell) : number;
  }

  /** As `of`, but −1 if nobody has asked for the number yet. */
  find(key: number): number {
    return (this.#cells[this.#cellOf(key)] as number) - 1;
  }

  /** Where a key is, or where it belongs. */
  #cellOf(key: number): number {
    let cell = this.#homeOf(key);
    for (;;) {
      const number = (this.#cells[cell] as number) - 1;
      if (number === -1 || this.#keys[number] === key) return cell;
      cell = (cell + 1) & (this.#cells.length - 1);
    }
  }

  /** The key of a number in use. */
  keyOf(number: number): number {
    return this.#keys[number] as number;
  }

  #add(key: number, cell: number): number {
    const number = this.#free.pop() ?? this.#count++;
    this.#keys[number] = key;
    this.#cells[cell] = number + 1;
    if (this.#count === this.#keys.length) this.#grow();
    return number;
  }

  /** Frees the numbers of lanes that nobody uses any more. */
  free(isUsed: (number: number) => boolean): void {
    for (let number = 0; number < this.#count; number++) {
      if (this.#keys[number] === FREE || isUsed(number)) continue;
      this.#keys[number] = FREE;
      this.#free.push(number);
    }
    this.#cells.fill(0);
    this.#fillCells();
  }

  #grow(): void {
    const keys = this.#keys;
    this.#keys = new Float64Array(2 * keys.length);
    this.#keys.set(keys);
    this.#cells = new Int32Array(4 * keys.length);
    this.#fillCells();
  }

  #fillCells(): void {
    for (let number = 0; number < this.#count; number++) {
      const key = this.#keys[number] as number;
      if (key === FREE) continue;
      let cell = this.#homeOf(key);
      while (this.#cells[cell] !== 0) cell = (cell + 1) & (this.#cells.length - 1);
      this.#cells[cell] = number + 1;
    }
  }

  #homeOf(key: number): number {
    const low = (key % TWO_POW_32) | 0;
    const high = Math.floor(key / TWO_POW_32);
    const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & (this.#cells.length - 1);
  }
}

const INITIAL_LANES = 64;
/** The key of a free number; keys of lanes are never negative. */
const FREE = -1;
const TWO_POW_32 = 2 ** 32;
