import { bitsOf } from '../../base/ids.js';
import { KeyedHash } from '../../base/keyed-hash.js';
import { DIRECTIONS, type GroupId } from '../../base/vocabulary.js';

/** Finds the groups that some node's record in the log has, named here or not. */
export class RemoteGroups {
  /** By direction: groups of which a lane has rows. */
  readonly #lanes = DIRECTIONS.map(() => new Set<GroupId>());
  /**
   * Lanes by a hash of the bits of their group's id: a request for a key has nothing else at hand. A Map of the bits
   * themselves could be crowded by whoever chooses ids: it hashes numbers without a seed.
   */
  readonly #byHash = new Map<number, number>();
  readonly #hash: KeyedHash;
  /** Lanes whose bits fall into each cell, so that groups which nobody reports seldom need the map. */
  readonly #cells = new Uint32Array(CELLS);
  /** Per cell a bit, whether there are any: 8 KB that stay in the cache, where 256 would not. */
  readonly #held = new Uint8Array(CELLS / 8);

  /** @param hashSeed see KeyedHash */
  constructor(hashSeed = 0) {
    this.#hash = new KeyedHash(hashSeed);
  }

  /** Notes that the rows of a lane have changed. */
  note(groupId: GroupId, direction: number, hasRows: boolean): void {
    const lanesOf = this.#lanes[direction];
    if (hasRows === lanesOf.has(groupId)) return;
    if (hasRows) lanesOf.add(groupId);
    else lanesOf.delete(groupId);
    const bits = bitsOf(groupId);
    const more = hasRows ? 1 : -1;
    const hash = this.#hash.of(bits, 0, 0, 0);
    const left = (this.#byHash.get(hash) ?? 0) + more;
    if (left === 0) this.#byHash.delete(hash);
    else this.#byHash.set(hash, left);
    this.#noteCell(bits % CELLS, more);
  }

  /**
   * Checks whether a group with these bits of an id (ids.ts) is reported. Among 10,000 that are, another one has the
   * same bits with a probability of 1e-5; it is then treated as if it were reported, too.
   */
  has(bits: number): boolean {
    const cell = bits % CELLS;
    return (this.#held[cell >> 3] & (1 << (cell & 7))) !== 0 && this.#byHash.has(this.#hash.of(bits, 0, 0, 0));
  }

  #noteCell(cell: number, more: number): void {
    this.#cells[cell] += more;
    const bit = 1 << (cell & 7);
    const others = this.#held[cell >> 3] & ~bit;
    this.#held[cell >> 3] = this.#cells[cell] === 0 ? others : others | bit;
  }
}

const CELLS = 65_536;
