import { slotOf } from '../../base/vocabulary.js';
import { type Gap, Room, wholeGap } from '../../limiter/gaps.js';
import { SLOTS, type UnpublishedKeys } from './unpublished-keys.js';

/** Units taken unpublished, for work whose cost is known later. */
export interface UnpublishedHold {
  readonly key: string;
  readonly direction: number;
  readonly messages: number;
  readonly bytes: number;
  /** Per dimension; null where nothing was taken. */
  readonly gaps: readonly (Gap | null)[];
  /** Units reserved of the key's group since it became loud; null = it has not. */
  aloud: Units | null;
}

/**
 * Gives units of `UnpublishedHold` back by the rule of held tokens (core/limiter/held-tokens.ts). The room of a bucket
 * is its spent units that have not come back. When the key becomes loud, held units are reserved of its group.
 */
export class UnpublishedHolds {
  readonly #unpublished: UnpublishedKeys;
  /** By silent key. */
  readonly #keys = new Map<string, OfKey>();

  constructor(unpublished: UnpublishedKeys) {
    this.#unpublished = unpublished;
  }

  /** Silent keys with holds. */
  get size(): number {
    return this.#keys.size;
  }

  /** Called before units of a key are taken: units that came back leave the gaps. */
  note(key: string, row: number, nowMs: number): void {
    this.#keys.get(key)?.rooms.forEach((room, slot) => {
      room.shrinkTo(this.#unpublished.spent(row, slot, nowMs));
    });
  }

  /** Holds units just taken. */
  hold(key: string, row: number, asked: HeldAmounts, nowMs: number): UnpublishedHold {
    const { direction, messages, bytes } = asked;
    const ofKey = this.#keys.get(key) ?? { rooms: SLOTS.map(() => new Room()), open: new Set() };
    const gaps = [messages, bytes].map((amount, dimension) => {
      if (amount === 0) return null;
      const slot = slotOf(direction, dimension);
      return ofKey.rooms[slot].open(this.#unpublished.spent(row, slot, nowMs));
    });
    const hold = { key, direction, messages, bytes, gaps, aloud: null };
    ofKey.open.add(hold);
    this.#keys.set(key, ofKey);
    return hold;
  }

  /**
   * Called when a key becomes loud and its group is charged: the group gives back the held units of the charge. Units
   * that have come back until now paid for the newest holds.
   * @param charged units per direction
   * @returns units that are held, per direction
   */
  publish(key: string, charged: readonly Units[]): readonly Units[] {
    const held = charged.map((): Units => [0, 0]);
    for (const hold of this.#keys.get(key)?.open ?? []) {
      const [of, most] = [held[hold.direction], charged[hold.direction]];
      hold.aloud = [Math.min(hold.messages, most[0] - of[0]), Math.min(hold.bytes, most[1] - of[1])];
      held[hold.direction] = [of[0] + hold.aloud[0], of[1] + hold.aloud[1]];
    }
    this.#keys.delete(key);
    return held;
  }

  /** Ends a hold of a silent key, with unused units. @param row of the key; −1 = it is forgotten */
  end(hold: UnpublishedHold, row: number, unused: Units, nowMs: number): void {
    const { key, direction, gaps } = hold;
    const { rooms, open } = this.#keys.get(key)!;
    gaps.forEach((gap, dimension) => {
      if (gap === null) return;
      const slot = slotOf(direction, dimension);
      const [room, most] = [rooms[slot], unused[dimension]];
      room.shrinkTo(row === -1 ? 0 : this.#unpublished.spent(row, slot, nowMs));
      // A forgotten key is full, except for rounding.
      const closed = most > 0 && row !== -1 ? room.close(wholeGap(gap), most) : 0;
      if (closed > 0) this.#unpublished.giveBack(row, direction, dimension, closed, nowMs);
      room.leave(wholeGap(gap));
    });
    open.delete(hold);
    if (open.size === 0) this.#keys.delete(key);
  }
}

type Units = readonly [messages: number, bytes: number];

interface OfKey {
  /** Per direction and dimension. */
  readonly rooms: readonly Room[];
  /** The oldest first. */
  readonly open: Set<UnpublishedHold>;
}

type HeldAmounts = Pick<UnpublishedHold, 'direction' | 'messages' | 'bytes'>;
