import type { RecordStore } from './record-store.js';

/** Keys of one node. */
interface Keys {
  /** Bucket number → a record of that number, plus one; 0 = none. Those of other partitions are behind it. */
  byNumber: Int32Array;
  /** Partition → first record, plus one; 0 = none. Follow `records.nextOfKeys`. */
  readonly first: Int32Array;
  count: number;
}

/**
 * Finds the record of a key, and those of one node on one partition. Numbers instead of the keys' text: 20 bytes a key,
 * where a Map of strings had 100; and what concerns one node costs its own keys, not those of all.
 */
export class BucketKeys {
  /** Records looked at so far to find others: what catching up costs, as a count. */
  steps = 0;
  readonly #records: RecordStore;
  readonly #ofSlot: (Keys | undefined)[] = [];
  #count = 0;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  get count(): number {
    return this.#count;
  }

  /** The record of a key, or −1. */
  find(slot: number, partition: number, bucket: number): number {
    const { partition: partitions, nextOfNumber } = this.#records;
    let record = (this.#ofSlot[slot]?.byNumber[bucket] ?? 0) - 1;
    while (record !== -1 && partitions[record] !== partition) {
      this.steps++;
      record = nextOfNumber[record] as number;
    }
    return record;
  }

  /** First record of a node on a partition, or −1; follow `next`. */
  first(slot: number, partition: number): number {
    return (this.#ofSlot[slot]?.first[partition] ?? 0) - 1;
  }

  next(record: number): number {
    this.steps++;
    return this.#records.nextOfKeys[record] as number;
  }

  countOf(slot: number): number {
    return this.#ofSlot[slot]?.count ?? 0;
  }

  /** A record whose key is not known yet; its bucket and partition are written. */
  add(slot: number, record: number): void {
    const { bucket: buckets, partition: partitions, nextOfNumber, nextOfKeys, previousOfKeys } = this.#records;
    const keys = this.#keysOf(slot);
    const bucket = buckets[record] as number;
    if (bucket >= keys.byNumber.length) grow(keys, bucket);
    nextOfNumber[record] = (keys.byNumber[bucket] as number) - 1;
    keys.byNumber[bucket] = record + 1;
    const partition = partitions[record] as number;
    const first = (keys.first[partition] as number) - 1;
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
    this.#removeNumber(keys, record);
    const next = nextOfKeys[record] as number;
    const previous = previousOfKeys[record] as number;
    if (next !== -1) previousOfKeys[next] = previous;
    if (previous === -1) keys.first[partitions[record] as number] = next + 1;
    else nextOfKeys[previous] = next;
    this.#count--;
    if (--keys.count === 0) this.#ofSlot[slot] = undefined;
  }

  #removeNumber(keys: Keys, record: number): void {
    const { bucket: buckets, nextOfNumber } = this.#records;
    const bucket = buckets[record] as number;
    let before = (keys.byNumber[bucket] as number) - 1;
    if (before === record) {
      keys.byNumber[bucket] = (nextOfNumber[record] as number) + 1;
      return;
    }
    while (nextOfNumber[before] !== record) before = nextOfNumber[before] as number;
    nextOfNumber[before] = nextOfNumber[record] as number;
  }

  #keysOf(slot: number): Keys {
    const known = this.#ofSlot[slot];
    if (known !== undefined) return known;
    const keys = { byNumber: new Int32Array(INITIAL_NUMBERS), first: new Int32Array(PARTITIONS_MAX), count: 0 };
    this.#ofSlot[slot] = keys;
    return keys;
  }
}

function grow(keys: Keys, bucket: number): void {
  const grown = new Int32Array(Math.max(bucket + 1, Math.ceil(keys.byNumber.length * GROWTH)));
  grown.set(keys.byNumber);
  keys.byNumber = grown;
}

const INITIAL_NUMBERS = 8;
const GROWTH = 1.5;
const PARTITIONS_MAX = 16;
