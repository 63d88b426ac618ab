import { KeyedHash } from '../base/keyed-hash.js';
import { MAP_PARTITIONS_MAX } from './constants.js';
import type { RecordStore } from './record-store.js';

/** The keys of one node. */
interface Keys {
  /** Hash table with open addressing, by partition and bundle number: record + 1, 0 = free. */
  cells: Int32Array;
  /** By partition: first record + 1, 0 = none. Follow `records.nextOfKeys`. */
  readonly first: Int32Array;
  count: number;
}

/**
 * Finds records by key, or by node and partition. It stores numbers instead of the keys' text: 20 bytes a key, where a
 * Map of strings takes 100. Each node has its own table: a scan of one node costs time for its keys alone, and a high
 * bundle number takes no more room than any other.
 */
export class BundleKeys {
  /** Records looked at so far: the cost of catching up, as a count. */
  steps = 0;
  /** Other records met so far in look-ups: the cost of crowding, as a count. */
  met = 0;
  readonly #records: RecordStore;
  readonly #ofSlot: (Keys | undefined)[] = [];
  readonly #hash: KeyedHash;
  #count = 0;

  /** @param hashSeed see KeyedHash: writers to the topic choose bundle numbers */
  constructor(records: RecordStore, hashSeed = 0) {
    this.#records = records;
    this.#hash = new KeyedHash(hashSeed);
  }

  get count(): number {
    return this.#count;
  }

  /** Finds the record of a key; −1 = none. */
  find(slot: number, partition: number, bundle: number): number {
    const keys = this.#ofSlot[slot];
    return keys === undefined ? -1 : keys.cells[this.#cellOf(keys, partition, bundle)] - 1;
  }

  /** Finds a node's first record on a partition, or −1; follow `next`. */
  first(slot: number, partition: number): number {
    return (this.#ofSlot[slot]?.first[partition] ?? 0) - 1;
  }

  next(record: number): number {
    this.steps++;
    return this.#records.nextOfKeys[record];
  }

  countOf(slot: number): number {
    return this.#ofSlot[slot]?.count ?? 0;
  }

  /** Adds a record with a new key; its bundle and partition must have been written. */
  add(slot: number, record: number): void {
    const { bundle: bundles, partition: partitions, nextOfKeys, previousOfKeys } = this.#records;
    const keys = this.#keysOf(slot);
    if (2 * (keys.count + 1) > keys.cells.length) this.#grow(keys);
    keys.cells[this.#cellOf(keys, partitions[record], bundles[record])] = record + 1;
    const partition = partitions[record];
    const first = keys.first[partition] - 1;
    nextOfKeys[record] = first;
    previousOfKeys[record] = -1;
    if (first !== -1) previousOfKeys[first] = record;
    keys.first[partition] = record + 1;
    keys.count++;
    this.#count++;
  }

  remove(slot: number, record: number): void {
    const { partition: partitions, nextOfKeys, previousOfKeys } = this.#records;
    const keys = this.#keysOf(slot);
    this.#free(keys, record);
    const next = nextOfKeys[record];
    const previous = previousOfKeys[record];
    if (next !== -1) previousOfKeys[next] = previous;
    if (previous === -1) keys.first[partitions[record]] = next + 1;
    else nextOfKeys[previous] = next;
    this.#count--;
    if (--keys.count === 0) this.#ofSlot[slot] = undefined;
  }

  /** Finds the cell of a key, or its free one. */
  #cellOf({ cells }: Keys, partition: number, bundle: number): number {
    const { bundle: bundles, partition: partitions } = this.#records;
    const mask = cells.length - 1;
    let cell = this.#homeOf(partition, bundle) & mask;
    for (;;) {
      const record = cells[cell] - 1;
      if (record === -1 || (bundles[record] === bundle && partitions[record] === partition)) return cell;
      this.met++;
      cell = (cell + 1) & mask;
    }
  }

  #homeOf(partition: number, bundle: number): number {
    return this.#hash.of(bundle, partition, 0, 0);
  }

  /** Frees the cell of a record. Later records that would get lost move up. */
  #free(keys: Keys, record: number): void {
    const { bundle: bundles, partition: partitions } = this.#records;
    const { cells } = keys;
    const mask = cells.length - 1;
    let free = this.#cellOf(keys, partitions[record], bundles[record]);
    for (let cell = (free + 1) & mask; cells[cell] !== 0; cell = (cell + 1) & mask) {
      const other = cells[cell] - 1;
      const home = this.#homeOf(partitions[other], bundles[other]);
      if (((cell - home) & mask) < ((cell - free) & mask)) continue;
      cells[free] = other + 1;
      free = cell;
    }
    cells[free] = 0;
  }

  #grow(keys: Keys): void {
    const { bundle: bundles, partition: partitions } = this.#records;
    const before = keys.cells;
    keys.cells = new Int32Array(2 * before.length);
    for (const cell of before) {
      if (cell === 0) continue;
      const at = this.#cellOf(keys, partitions[cell - 1], bundles[cell - 1]);
      keys.cells[at] = cell;
    }
  }

  #keysOf(slot: number): Keys {
    const known = this.#ofSlot[slot];
    if (known !== undefined) return known;
    const keys = { cells: new Int32Array(INITIAL_CELLS), first: new Int32Array(MAP_PARTITIONS_MAX), count: 0 };
    this.#ofSlot[slot] = keys;
    return keys;
  }
}

/** Cells of a new table; sizes are powers of two. */
const INITIAL_CELLS = 8;
