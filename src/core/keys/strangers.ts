import { DIRECTION_COUNT, type GroupId } from '../base/vocabulary.js';

/** Groups of which some node's record stands in the log, whether this node knows their names or not. */
export class Strangers {
  /** Log time since which a lane has rows; NaN = since before this node began to decide. */
  readonly #lanes = new Map<number, number>();
  /** Per cell: lanes whose group falls into it. Whoever asks for a group that nobody reports seldom asks the set. */
  readonly #cells = new Uint32Array(CELLS);
  /** Per cell a bit, whether there are any: 8 KB that stay in the cache, where 256 would not. */
  readonly #held = new Uint8Array(CELLS / 8);

  /** The rows of a lane have changed at a log time; NaN while this node does not decide yet. */
  note(groupId: GroupId, direction: number, hasRows: boolean, logMs: number): void {
    const key = groupId * DIRECTION_COUNT + direction;
    if (hasRows === this.#lanes.has(key)) return;
    const cell = cellOf(groupId);
    if (hasRows) this.#lanes.set(key, logMs);
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

  /** Log time since which a lane has rows; NaN where it has none, or had some before this node began to decide. */
  sinceLogMs(groupId: GroupId, direction: number): number {
    return this.#lanes.get(groupId * DIRECTION_COUNT + direction) ?? Number.NaN;
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
