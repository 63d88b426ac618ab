import { DIRECTION_COUNT, type GroupId } from '../base/vocabulary.js';

/** Groups of which some node's record stands in the log, whether this node knows their names or not. */
export class Strangers {
  readonly #lanes = new Set<number>();
  /** Per cell: lanes whose group falls into it. Whoever asks for a group that nobody reports seldom asks the set. */
  readonly #cells = new Uint32Array(CELLS);
  /** Per cell a bit, whether there are any: 8 KB that stay in the cache, where 256 would not. */
  readonly #held = new Uint8Array(CELLS / 8);

  /** The rows of a lane have changed. */
  note(groupId: GroupId, direction: number, hasRows: boolean): void {
    const key = groupId * DIRECTION_COUNT + direction;
    if (hasRows === this.#lanes.has(key)) return;
    const cell = cellOf(groupId);
    if (hasRows) this.#lanes.add(key);
    else this.#lanes.delete(key);
    const lanes = (this.#cells[cell] as number) + (hasRows ? 1 : -1);
    this.#cells[cell] = lanes;
    const bit = 1 << (cell & 7);
    const others = (this.#held[cell >> 3] as number) & ~bit;
    this.#held[cell >> 3] = lanes === 0 ? others : others | bit;
  }

  /** False = nobody reports a group of this cell. */
  mayHold(cell: number): boolean {
    return ((this.#held[cell >> 3] as number) & (1 << (cell & 7))) !== 0;
  }

  has(groupId: GroupId): boolean {
    const first = groupId * DIRECTION_COUNT;
    return this.#lanes.has(first) || this.#lanes.has(first + 1);
  }
}

export function cellOf(groupId: GroupId): number {
  return groupId % CELLS;
}

const CELLS = 65_536;
