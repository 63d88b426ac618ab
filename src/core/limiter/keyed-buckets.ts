import { grown } from '../base/grown.js';
import { DIMENSION_COUNT, type Rates } from '../base/vocabulary.js';
import { Buckets } from './buckets.js';
import { BOUND_LOOK_ROWS } from './constants.js';

/**
 * Keeps buckets by name, one row per topic or client. A row begins full, and is dropped when it is idle and full again:
 * a new row would be full as well. A row in debt stays until it has repaid.
 *
 * The number of rows is bounded. At the bound, a full row is dropped for the newcomer. If none of the next 256 rows is
 * full, the newcomer gets −1, and the caller has to refuse with an error. So a flood of made-up names costs at most 256
 * tests per name, and holds only as many rows as arrive while one bucket refills.
 */
export class KeyedBuckets {
  readonly buckets: Buckets;
  /** The most rows. If there are more already, none is added until enough have gone. */
  max: number;
  /** Rate (units per second) and depth (units) of new rows. */
  readonly rates: Float64Array;
  readonly depths: Float64Array;
  #askedMs: Float64Array;
  readonly #rows = new Map<string, number>();
  readonly #names: (string | null)[] = [];
  readonly #free: number[] = [];
  #capacity: number;
  #hand = 0;

  constructor(max: number, rates: Rates, depths: Rates) {
    this.max = max;
    this.rates = Float64Array.from(rates);
    this.depths = Float64Array.from(depths);
    this.#capacity = Math.min(max, FIRST_ROWS);
    this.buckets = new Buckets(this.#capacity);
    this.#askedMs = new Float64Array(this.#capacity);
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Rows ever used: each row below this number is in use, or free. */
  get rowCount(): number {
    return this.#names.length;
  }

  nameOf(row: number): string | null {
    return this.#names[row];
  }

  /** Returns the row of a name, made if missing; −1 at the bound. */
  rowOf(name: string, nowMs: number): number {
    const row = this.#rows.get(name) ?? this.#add(name, nowMs);
    if (row !== -1) this.#askedMs[row] = nowMs;
    return row;
  }

  /** Sets other limits for all rows. Tokens and debts stay (buckets.ts). */
  setLimits(rates: Float64Array, depths: Float64Array, nowMs: number): void {
    this.rates.set(rates);
    this.depths.set(depths);
    for (let row = 0; row < this.#names.length; row++) {
      for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
        this.buckets.setLimit(row, dimension, rates[dimension], depths[dimension], nowMs);
      }
    }
  }

  /** Returns the row of a name, or −1. */
  find(name: string): number {
    return this.#rows.get(name) ?? -1;
  }

  /** Drops full rows not asked for `idleMs`. Tests `most` rows from where it stopped before. */
  sweep(nowMs: number, idleMs: number, most: number): number {
    let dropped = 0;
    const looks = Math.min(most, this.#names.length);
    for (let look = 0; look < looks; look++) {
      this.#hand = this.#hand + 1 >= this.#names.length ? 0 : this.#hand + 1;
      if (this.#isDroppable(this.#hand, nowMs, idleMs)) {
        this.#drop(this.#hand);
        dropped++;
      }
    }
    return dropped;
  }

  #add(name: string, nowMs: number): number {
    if (this.#rows.size >= this.max && !this.#makeRoom(nowMs)) return -1;
    const row = this.#free.pop() ?? this.#names.length;
    if (row >= this.#capacity) this.#grow();
    this.#names[row] = name;
    this.#rows.set(name, row);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const perSecond = this.rates[dimension];
      this.buckets.setLimit(row, dimension, perSecond, this.depths[dimension], nowMs);
    }
    this.buckets.fill(row, nowMs);
    return row;
  }

  #makeRoom(nowMs: number): boolean {
    for (let look = 0; look < BOUND_LOOK_ROWS && look < this.#names.length; look++) {
      if (this.sweep(nowMs, 0, 1) > 0) return true;
    }
    return false;
  }

  #isDroppable(row: number, nowMs: number, idleMs: number): boolean {
    if (this.#names[row] === null) return false;
    const idle = nowMs - this.#askedMs[row] >= idleMs;
    return idle && isFull(this.buckets, row, nowMs);
  }

  #drop(row: number): void {
    this.#rows.delete(this.#names[row] as string);
    this.buckets.held?.drop(row);
    this.#names[row] = null;
    this.#free.push(row);
  }

  #grow(): void {
    this.#capacity = Math.min(this.max, this.#capacity * 2);
    this.buckets.grow(this.#capacity);
    this.#askedMs = grown(this.#askedMs, this.#capacity);
  }
}

/** Tests if the row would be full now in every limited dimension. */
function isFull({ refilledMs, depth, tokens, rate }: Buckets, row: number, nowMs: number): boolean {
  const elapsedMs = Math.max(0, nowMs - refilledMs.at(row));
  const first = row * DIMENSION_COUNT;
  for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
    const full = Number.isNaN(depth.at(slot)) ? 0 : depth.at(slot);
    if (tokens.at(slot) + (elapsedMs * rate.at(slot)) / 1000 < full) return false;
  }
  return true;
}

const FIRST_ROWS = 16;
