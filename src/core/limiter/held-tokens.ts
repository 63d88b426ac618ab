import { grown } from '../base/grown.js';
import { BYTES, DIMENSION_COUNT, MESSAGES } from '../base/vocabulary.js';
import type { Buckets } from './buckets.js';
import { type Gap, Room, wholeGap } from './gaps.js';

/**
 * Counts tokens held for work whose cost is known later. It decides how many of them may come back.
 *
 * The rule: a refund makes a bucket as full as it would be now if only the used part had been taken in the first place.
 * Such a bucket would have lost what did not fit into its depth, so that much does not come back. Otherwise held tokens
 * would be a bank: at 300/s, 636 reservations of 25 that are cancelled after 55 s would give 16,000 messages at once.
 * An admission therefore counts when it is granted, with the part of it that was used. In every span of time admissions
 * stay within limit × time + depth, plus one piece of work above the depth, whatever is held, for how long, and by how
 * many.
 *
 * The room of a bucket (depth − tokens) is a stack of gaps. Taking tokens opens a gap on top, and the refill closes
 * gaps from the top. A refund closes gaps from its own one downwards, and never a later gap: if less had been taken in
 * the first place, the room of the later gaps would be there all the same.
 *
 * Worked: 300/s, depth 30, empty all the time. Each reservation of 25 opens a gap. The refill of the next 83 ms closes
 * it, and 5 stay open at the bottom. After 55 s all reservations are cancelled. The newest one closes its own 25 and
 * those 5; the others find nothing to close. So 30 come back, which is one bucket, and not 16,000.
 * Worked: a reservation of 25 from a full bucket of 100, of which 10 are used, gives 15 back as long as there is room
 * for them; once the bucket has been full again, it gives nothing back.
 *
 * Cost: a closed gap is merged into the older one once, so reserving and ending take constant time on average, however
 * many reservations are open. Buckets that hold nothing pay nothing, others one comparison per refill.
 */
export class HeldTokens {
  readonly buckets: Buckets;
  readonly #rooms = new Map<number, Room>();
  /** Per slot: the least room in units since its last reading. Without meaning where nothing is held. */
  #leastRoom: Float64Array;

  constructor(buckets: Buckets) {
    this.buckets = buckets;
    this.#leastRoom = new Float64Array(buckets.refilledMs.length * DIMENSION_COUNT);
  }

  grow(rows: number): void {
    this.#leastRoom = grown(this.#leastRoom, rows * DIMENSION_COUNT);
  }

  /** Called when the room has become smaller, except by a refund. Between two calls the room only grows. */
  noteRoom(row: number): void {
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      const room = this.#roomOf(slot);
      if (room < this.#leastRoom[slot]) this.#leastRoom[slot] = room;
    }
  }

  /** Lowers the least room to the debt. Called when tokens above zero have become void. */
  noteDebts(row: number): void {
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      const debt = Math.max(0, -this.buckets.tokens.at(slot));
      if (debt < this.#leastRoom[slot]) this.#leastRoom[slot] = debt;
    }
  }

  /** Holds tokens just taken from the row. Nothing comes back to a slot without a limit. */
  hold(row: number, messages: number, bytes: number): Hold {
    return new Hold(this, row, this.#open(row, MESSAGES, messages), this.#open(row, BYTES, bytes));
  }

  /** Called when another topic or client gets the row: nothing comes back to the row. */
  drop(row: number): void {
    for (let slot = row * DIMENSION_COUNT; slot < (row + 1) * DIMENSION_COUNT; slot++) {
      const room = this.#rooms.get(slot);
      if (room === undefined) continue;
      room.isGone = true;
      this.#rooms.delete(slot);
    }
  }

  /** Ends a hold in one slot. Gives back the part of `amount` that the rule allows. */
  giveBack(row: number, dimension: number, held: HeldGap | null, amount: number): void {
    if (held === null || held.room.isGone) return;
    const slot = row * DIMENSION_COUNT + dimension;
    const { room } = held;
    this.#shrink(room, slot);
    const gap = wholeGap(held.gap);
    const closed = amount > 0 ? room.close(gap, amount) : 0;
    if (closed > 0) this.buckets.tokens.set(slot, this.buckets.tokens.at(slot) + closed);
    room.leave(wholeGap(gap));
    if (room.newest === null) this.#rooms.delete(slot);
  }

  #open(row: number, dimension: number, amount: number): HeldGap | null {
    const slot = row * DIMENSION_COUNT + dimension;
    if (amount === 0 || this.buckets.depth.at(slot) === Infinity) return null;
    let room = this.#rooms.get(slot);
    if (room === undefined) {
      room = new Room();
      this.#rooms.set(slot, room);
    }
    this.#shrink(room, slot);
    return { room, gap: room.open(this.#roomOf(slot)) };
  }

  /** Shrinks the room by the inflow since the last call. */
  #shrink(room: Room, slot: number): void {
    room.shrinkTo(Math.min(this.#leastRoom[slot], this.#roomOf(slot)));
    this.#leastRoom[slot] = Infinity;
  }

  /** Computes the slot's room for tokens: 0 without a limit, the debt alone while it is blocked. */
  #roomOf(slot: number): number {
    const { depth, tokens } = this.buckets;
    const most = depth.at(slot);
    if (most === Infinity) return 0;
    return (Number.isNaN(most) ? 0 : most) - tokens.at(slot);
  }
}

/** Tokens that one reservation holds of one row, until `end` is called. */
export class Hold {
  readonly #held: HeldTokens;
  readonly #row: number;
  readonly #messages: HeldGap | null;
  readonly #bytes: HeldGap | null;

  constructor(held: HeldTokens, row: number, messages: HeldGap | null, bytes: HeldGap | null) {
    this.#held = held;
    this.#row = row;
    this.#messages = messages;
    this.#bytes = bytes;
  }

  /** @param messages messages that were not used, ≥ 0 */
  end(messages: number, bytes: number, nowMs: number): void {
    this.#held.buckets.refill(this.#row, nowMs);
    this.#held.giveBack(this.#row, MESSAGES, this.#messages, messages);
    this.#held.giveBack(this.#row, BYTES, this.#bytes, bytes);
  }
}

interface HeldGap {
  readonly room: Room;
  readonly gap: Gap;
}
