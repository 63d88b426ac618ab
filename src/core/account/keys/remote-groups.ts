import { bitsOf } from '../../base/ids.js';
import { KeyedHash } from '../../base/keyed-hash.js';
import { DIRECTIONS, type GroupId } from '../../base/vocabulary.js';

/** Finds the groups that have a record in the log. */
export class RemoteGroups {
  readonly #lanes = DIRECTIONS.map(() => new Set<GroupId>());
  /**
   * Lanes by a hash of the bits of their group's id. A request for a key has no more at hand. Chosen ids could crowd a
   * Map of the bits themselves, which hashes numbers without a seed.
   */
  readonly #byHash = new Map<number, number>();
  readonly #hash: KeyedHash;
  /** Lanes per cell of bits: unreported groups seldom need the map. */
  readonly #cells = new Uint32Array(CELLS);
  /** A bit per cell that has lanes: 8 KB stay in the cache, where 256 would not. */
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
   * Tests if a group with these bits is reported (ids.ts). A group beside 10,000 reported ones has the bits of one of
   * them with a probability of 1e-5, and passes for reported then.
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
