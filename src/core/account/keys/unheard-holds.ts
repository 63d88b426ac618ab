import { BYTES, DIMENSION_COUNT, MESSAGES } from '../../base/vocabulary.js';
import { type Gap, Room, wholeGap } from '../../limiter/gaps.js';
import type { Whispers } from './whispers.js';

/** Units of a key that were taken unheard, for work whose cost is known later. */
export interface UnheardHold {
  readonly key: string;
  readonly direction: number;
  readonly messages: number;
  readonly bytes: number;
  /** Per dimension; null where nothing was taken. */
  readonly gaps: readonly (Gap | null)[];
}

/**
 * What of such units comes back: the rule of held tokens (core/limiter/held-tokens.ts), where the room of a bucket is
 * what was spent of it unheard and has not come back. When the key has become loud meanwhile, nothing does: its group
 * was charged with all that was held.
 */
export class UnheardHolds {
  readonly #whispers: Whispers;
  /** Key → per direction and dimension. */
  readonly #rooms = new Map<string, (Room | undefined)[]>();

  constructor(whispers: Whispers) {
    this.#whispers = whispers;
  }

  /** Keys of which something is held. */
  get size(): number {
    return this.#rooms.size;
  }

  /** Called before units of a key are taken: what has come back until now is no longer in any gap. */
  note(key: string, row: number, nowMs: number): void {
    this.#rooms.get(key)?.forEach((room, slot) => {
      room?.shrinkTo(this.#spent(row, slot, nowMs));
    });
  }

  /** Holds what has just been taken. */
  hold(key: string, row: number, asked: HeldAmounts, nowMs: number): UnheardHold {
    const { direction, messages, bytes } = asked;
    const rooms = this.#rooms.get(key) ?? [];
    const gaps = [messages, bytes].map((amount, dimension) => {
      if (amount === 0) return null;
      const slot = direction * DIMENSION_COUNT + dimension;
      rooms[slot] ??= new Room();
      return rooms[slot].open(this.#spent(row, slot, nowMs));
    });
    this.#rooms.set(key, rooms);
    return { key, direction, messages, bytes, gaps };
  }

  /** Ends a hold of which so much was not used. @param row of its key; −1 = it is forgotten */
  end({ key, direction, gaps }: UnheardHold, row: number, unused: readonly [number, number], nowMs: number): void {
    const rooms = this.#rooms.get(key);
    if (rooms === undefined) return;
    for (const dimension of [MESSAGES, BYTES]) {
      const slot = direction * DIMENSION_COUNT + dimension;
      const [room, gap, most] = [rooms[slot], gaps[dimension] ?? null, unused[dimension]];
      if (room === undefined || gap === null) continue;
      room.shrinkTo(row === -1 ? 0 : this.#spent(row, slot, nowMs));
      // A key is forgotten when it is full, but for what rounds.
      const closed = most > 0 && row !== -1 ? room.close(wholeGap(gap), most) : 0;
      if (closed > 0) this.#whispers.giveBack(row, direction, dimension, closed, nowMs);
      room.leave(wholeGap(gap));
      if (room.newest === null) rooms[slot] = undefined;
    }
    if (rooms.every((room) => room === undefined)) this.#rooms.delete(key);
  }

  #spent(row: number, slot: number, nowMs: number): number {
    if (this.#whispers.speaks(row)) return 0;
    return this.#whispers.spent(row, Math.floor(slot / DIMENSION_COUNT), slot % DIMENSION_COUNT, nowMs);
  }
}

interface HeldAmounts {
  readonly direction: number;
  readonly messages: number;
  readonly bytes: number;
}
