import { KeyedHash } from '../../base/keyed-hash.js';

/**
 * Holds a line of numbers per name. It is a hash table with open addressing whose lines lie in the table: a name far
 * from the cache costs one dependent miss, where a Map, which leads to a line elsewhere, costs three.
 *
 * It is cut into shards of some thousand names, each of which grows and shrinks alone: no request waits until a million
 * names have been moved.
 *
 * A row is a slot of a shard. It is the name's until the next `add` or `remove`.
 */
export class KeyRows {
  #lineLength: number;
  readonly #hash: KeyedHash;
  readonly #shards: Shard[];
  readonly #shardMask: number;
  readonly #shardBits: number;
  #size = 0;
  #handShard = 0;
  #handSlot = 0;

  /** @param seed see KeyedHash */
  constructor(maxRows: number, lineLength: number, seed: number) {
    this.#lineLength = lineLength;
    this.#hash = new KeyedHash(seed);
    this.#shardBits = Math.min(SHARD_BITS_MAX, Math.ceil(Math.log2(Math.max(1, maxRows / SHARD_ROWS))));
    this.#shards = Array.from({ length: 2 ** this.#shardBits }, () => shardOf(FIRST_SLOTS, lineLength));
    this.#shardMask = this.#shards.length - 1;
  }

  get size(): number {
    return this.#size;
  }

  /** Slots of all shards, and steps of the hand in one turn. */
  get slots(): number {
    return this.#shards.reduce((sum, { slots }) => sum + slots, 0);
  }

  /** Returns the row of a name, or −1. */
  find(name: string): number {
    const hash = this.#hashOf(name);
    const at = hash & this.#shardMask;
    const { hashes, names, slots, slotsPerHash } = this.#shards[at];
    for (let slot = Math.floor(hash * slotsPerHash); ; ) {
      const found = hashes[slot];
      if (found === EMPTY) return -1;
      if (found === hash && names[slot] === name) return (slot << this.#shardBits) | at;
      if (++slot === slots) slot = 0;
    }
  }

  /** Adds a name that has no row yet. All numbers of its line are 0. */
  add(name: string): number {
    const hash = this.#hashOf(name);
    const at = hash & this.#shardMask;
    let shard = this.#shards[at];
    if (shard.used >= FULL * shard.slots) shard = this.#resize(at, Math.ceil(GROWTH * shard.slots));
    const slot = standIn(shard, hash, name);
    this.#size++;
    return (slot << this.#shardBits) | at;
  }

  nameOf(row: number): string {
    return this.#shards[row & this.#shardMask].names[row >>> this.#shardBits]!;
  }

  /** The array with the line of a row, from `offsetOf` on. */
  linesOf(row: number): Float64Array {
    return this.#shards[row & this.#shardMask].lines;
  }

  /** The line as words of 32 bits: from twice `offsetOf` on, two per number. */
  wordsOf(row: number): Uint32Array {
    return this.#shards[row & this.#shardMask].words;
  }

  offsetOf(row: number): number {
    return (row >>> this.#shardBits) * this.#lineLength;
  }

  remove(row: number): void {
    const at = row & this.#shardMask;
    const shard = this.#shards[at];
    const { hashes, names, lines, slots } = shard;
    const length = this.#lineLength;
    let hole = row >>> this.#shardBits;
    // Names behind the hole that may stand in it move up: a find ends at the first empty slot.
    for (let slot = (hole + 1) % slots; hashes[slot] !== EMPTY; slot = (slot + 1) % slots) {
      const home = homeOf(shard, hashes[slot]);
      if ((slot - home + slots) % slots < (slot - hole + slots) % slots) continue;
      hashes[hole] = hashes[slot];
      names[hole] = names[slot];
      lines.copyWithin(hole * length, slot * length, (slot + 1) * length);
      hole = slot;
    }
    hashes[hole] = EMPTY;
    names[hole] = null;
    lines.fill(0, hole * length, (hole + 1) * length);
    shard.used--;
    this.#size--;
    if (slots > FIRST_SLOTS && shard.used < SPARSE * slots) this.#resize(at, Math.max(FIRST_SLOTS, slots >> 1));
  }

  /** Makes all lines longer and copies them: 50 ms for a million names. */
  widen(lineLength: number): void {
    const before = this.#lineLength;
    this.#lineLength = lineLength;
    for (const shard of this.#shards) {
      const lines = new Float64Array(shard.slots * lineLength);
      for (let slot = 0; slot < shard.slots; slot++) {
        lines.set(shard.lines.subarray(slot * before, (slot + 1) * before), slot * lineLength);
      }
      shard.lines = lines;
      shard.words = wordsIn(lines);
    }
  }

  /** Lists every name and its row. */
  *entries(): Generator<readonly [name: string, row: number]> {
    for (const [at, { names, slots }] of this.#shards.entries()) {
      for (let slot = 0; slot < slots; slot++) {
        const name = names[slot] ?? null;
        if (name !== null) yield [name, (slot << this.#shardBits) | at];
      }
    }
  }

  /** Returns the row at the hand, or −1 for an empty slot. */
  atHand(): number {
    const shard = this.#shards[this.#handShard];
    if (this.#handSlot >= shard.slots) return -1;
    return shard.hashes[this.#handSlot] === EMPTY ? -1 : (this.#handSlot << this.#shardBits) | this.#handShard;
  }

  /** Moves the hand past at most `most` empty slots; returns their number. An empty shard is passed at once. */
  passEmpty(most: number): number {
    let passed = 0;
    while (passed < most) {
      const { slots, hashes, used } = this.#shards[this.#handShard];
      const end = Math.min(slots, this.#handSlot + most - passed);
      let slot = used === 0 ? end : this.#handSlot;
      while (slot < end && hashes[slot] === EMPTY) slot++;
      passed += Math.max(0, slot - this.#handSlot);
      this.#handSlot = slot;
      if (slot < slots) return passed;
      this.#beginNextShard();
    }
    return passed;
  }

  /** Moves the hand one slot on, shard by shard. A name that moves meanwhile may be passed twice, or missed once. */
  moveHand(): void {
    if (++this.#handSlot >= this.#shards[this.#handShard].slots) this.#beginNextShard();
  }

  #beginNextShard(): void {
    this.#handSlot = 0;
    this.#handShard = (this.#handShard + 1) & this.#shardMask;
  }

  #resize(at: number, slots: number): Shard {
    const shard = this.#shards[at];
    const resized = shardOf(slots, this.#lineLength);
    for (let slot = 0; slot < shard.slots; slot++) {
      const name = shard.names[slot] ?? null;
      if (name === null) continue;
      const to = standIn(resized, shard.hashes[slot], name) * this.#lineLength;
      const from = slot * this.#lineLength;
      for (let number = 0; number < this.#lineLength; number++) resized.lines[to + number] = shard.lines[from + number];
    }
    this.#shards[at] = resized;
    return resized;
  }

  /** Never EMPTY. Its low bits give the shard, its high ones the slot. */
  #hashOf(name: string): number {
    return this.#hash.ofText(name) || 1;
  }
}

interface Shard {
  readonly slots: number;
  /** Slots for each value of a hash. Names stand in the order of their hashes: a resize reads and writes in order. */
  readonly slotsPerHash: number;
  used: number;
  readonly hashes: Uint32Array;
  readonly names: (string | null)[];
  lines: Float64Array;
  words: Uint32Array;
}

function shardOf(slots: number, lineLength: number): Shard {
  const lines = new Float64Array(slots * lineLength);
  return {
    slots,
    slotsPerHash: slots / 2 ** 32,
    used: 0,
    hashes: new Uint32Array(slots),
    names: new Array(slots).fill(null),
    lines,
    words: wordsIn(lines),
  };
}

function wordsIn({ buffer }: Float64Array): Uint32Array {
  return new Uint32Array(buffer);
}

function homeOf({ slotsPerHash }: Shard, hash: number): number {
  return Math.floor(hash * slotsPerHash);
}

/** Puts a name into its slot, and returns the slot. */
function standIn(shard: Shard, hash: number, name: string): number {
  const { hashes, slots } = shard;
  let slot = homeOf(shard, hash);
  while (hashes[slot] !== EMPTY) if (++slot === slots) slot = 0;
  hashes[slot] = hash;
  shard.names[slot] = name;
  shard.used++;
  return slot;
}

const EMPTY = 0;
/** Names per full shard: a resize moves them in 0.1 ms. More makes pauses longer, and finding faster. */
const SHARD_ROWS = 4096;
const SHARD_BITS_MAX = 12;
const FIRST_SLOTS = 8;
/** Load at which a shard grows. A find reads 2.5 slots at 3/4, a failing one 8.5, in one or two cache lines. */
const FULL = 0.75;
const GROWTH = 1.4;
const SPARSE = 0.2;
