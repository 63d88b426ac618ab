import { BYTES, DIMENSION_COUNT, MESSAGES } from '../vocabulary.js';
import type { Buckets } from './buckets.js';

/**
 * Tokens that are held for work whose cost is known later, and what of them may come back.
 *
 * The rule: a refund makes a bucket as full as it would be now, had only the used part been taken in the first place.
 * What such a bucket would have lost meanwhile, because it holds no more than its depth, does not come back; or held
 * tokens would be a bank: 636 reservations of 25, cancelled after 55 s, were 16,000 messages within 0.6 s at 300/s. So
 * admissions count when they are granted, with what was used of them, and in every span of time they stay within
 * limit × time + depth (one piece of work above the depth beside it), whatever is held, how long, and by how many.
 *
 * How: the room of a bucket (depth − tokens) is a stack of gaps. Taking opens a gap on top; what flows in closes gaps
 * from the top. A refund closes gaps from its own downwards, never those that were opened later: a bucket that had
 * been given less back then would have had no room for more than that.
 *
 * Worked: 300/s, depth 30, empty all the time. Each reservation of 25 opens a gap, which the next 83 ms close, but for
 * 5 at the bottom. After 55 s all of them are cancelled: the newest closes its own 25 and those 5, the others
 * find nothing to close: 30 come back, one bucket, not 16,000. A reservation of 25 of a full bucket of 100 of which 10
 * are used gives 15 back as long as that much room is there; once the bucket has been full, nothing.
 *
 * Cost: a gap that is closed is merged into the older one, once, so that reserving and ending take constant time on
 * average, however many are open. Rows where nothing is held pay nothing, the others one comparison per refill.
 */
export class HeldTokens {
  readonly #buckets: Buckets;
  readonly #rooms = new Map<number, Room>();

  /** Per slot: the least room there was since it was looked at; whatever stands there where nothing is held. */
  #leastRoom: Float64Array;

  constructor(buckets: Buckets) {
    this.#buckets = buckets;
    this.#leastRoom = new Float64Array(buckets.refilledMs.length * DIMENSION_COUNT);
  }

  /** The buckets have more rows. */
  grow(rows: number): void {
    const before = this.#leastRoom;
    this.#leastRoom = new Float64Array(rows * DIMENSION_COUNT);
    this.#leastRoom.set(before);
  }

  /** Called whenever the room has become smaller, but for refunds; between two calls it only grows. */
  noteRoom(row: number): void {
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      const room = this.#roomOf(slot);
      if (room < (this.#leastRoom[slot] as number)) this.#leastRoom[slot] = room;
    }
  }

  /** What is above zero is void: there was no more room than the debt. */
  noteDebts(row: number): void {
    const first = row * DIMENSION_COUNT;
    for (let slot = first; slot < first + DIMENSION_COUNT; slot++) {
      const debt = Math.max(0, -this.#buckets.tokens.at(slot));
      if (debt < (this.#leastRoom[slot] as number)) this.#leastRoom[slot] = debt;
    }
  }

  /** What has been taken of the row just now; nothing can come back where nothing limits. */
  hold(row: number, messages: number, bytes: number): Hold {
    return new Hold(this, row, this.#open(row, MESSAGES, messages), this.#open(row, BYTES, bytes));
  }

  /** The row is another's from now on: nothing goes back into it. */
  drop(row: number): void {
    for (let slot = row * DIMENSION_COUNT; slot < (row + 1) * DIMENSION_COUNT; slot++) {
      const room = this.#rooms.get(slot);
      if (room === undefined) continue;
      room.isGone = true;
      this.#rooms.delete(slot);
    }
  }

  giveBack(row: number, dimension: number, held: HeldGap | null, amount: number): void {
    if (held === null || held.room.isGone) return;
    const slot = row * DIMENSION_COUNT + dimension;
    const { room } = held;
    this.#shrink(room, slot);
    const gap = foundGap(held.gap);
    const closed = amount > 0 ? room.close(gap, amount) : 0;
    if (closed > 0) this.#buckets.tokens.set(slot, this.#buckets.tokens.at(slot) + closed);
    room.leave(foundGap(gap));
    if (room.newest === null) this.#rooms.delete(slot);
  }

  refill(row: number, nowMs: number): void {
    this.#buckets.refill(row, nowMs);
  }

  #open(row: number, dimension: number, amount: number): HeldGap | null {
    const slot = row * DIMENSION_COUNT + dimension;
    if (amount === 0 || this.#buckets.depth.at(slot) === Number.POSITIVE_INFINITY) return null;
    let room = this.#rooms.get(slot);
    if (room === undefined) {
      room = new Room();
      this.#rooms.set(slot, room);
    }
    this.#shrink(room, slot);
    return { room, gap: room.open(this.#roomOf(slot)) };
  }

  /** By what has flowed in since the last look. */
  #shrink(room: Room, slot: number): void {
    room.shrinkTo(Math.min(this.#leastRoom[slot] as number, this.#roomOf(slot)));
    this.#leastRoom[slot] = Number.POSITIVE_INFINITY;
  }

  /** What the slot could hold beside what is there; nothing where nothing limits, debts alone where it is blocked. */
  #roomOf(slot: number): number {
    const { depth, tokens } = this.#buckets;
    const most = depth.at(slot);
    if (most === Number.POSITIVE_INFINITY) return 0;
    return (Number.isNaN(most) ? 0 : most) - tokens.at(slot);
  }
}

/** What one reservation holds of one row; `end` ends it. */
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

  /** @param messages not used, ≥ 0 */
  end(messages: number, bytes: number, nowMs: number): void {
    this.#held.refill(this.#row, nowMs);
    this.#held.giveBack(this.#row, MESSAGES, this.#messages, messages);
    this.#held.giveBack(this.#row, BYTES, this.#bytes, bytes);
  }
}

interface HeldGap {
  readonly room: Room;
  readonly gap: Gap;
}

/** Room that was opened not later than by the reservations that own it, and later than by those of the older gap. */
class Gap {
  amount: number;
  owners = 1;
  older: Gap | null;
  newer: Gap | null = null;
  /** The gap that it has become a part of. */
  mergedInto: Gap | null = null;

  constructor(amount: number, older: Gap | null) {
    this.amount = amount;
    this.older = older;
  }
}

/** The gaps of a slot up to that of its newest open reservation. What was taken since lies above, and is not kept. */
class Room {
  newest: Gap | null = null;
  isGone = false;
  #sum = 0;

  /** A gap for all of the room that is not in an older one. */
  open(room: number): Gap {
    const gap = new Gap(Math.max(0, room - this.#sum), this.newest);
    if (this.newest !== null) this.newest.newer = gap;
    this.newest = gap;
    this.#sum += gap.amount;
    return gap;
  }

  shrinkTo(room: number): void {
    let gap = this.newest;
    while (gap !== null && this.#sum > room) {
      this.#cut(gap, this.#sum - room);
      gap = this.#mergeIfClosed(gap);
    }
    if (this.newest === null) this.#sum = 0;
  }

  /** Closes as much as there is from this gap downwards; returns it. */
  close(from: Gap, most: number): number {
    let left = most;
    for (let gap: Gap | null = from; gap !== null && left > 0; gap = this.#mergeIfClosed(gap)) {
      left -= this.#cut(gap, left);
    }
    return most - left;
  }

  /** One of its reservations has ended: room that only later ones may use is theirs, or nobody's. */
  leave(gap: Gap): void {
    gap.owners--;
    if (gap.owners > 0) return;
    if (gap.newer === null) this.#sum -= gap.amount;
    else gap.newer.amount += gap.amount;
    this.#unlink(gap);
  }

  #cut(gap: Gap, most: number): number {
    const cut = Math.min(gap.amount, most);
    gap.amount -= cut;
    this.#sum -= cut;
    return cut;
  }

  /** The older gap where this one is closed; null where there is none, or this one is not. */
  #mergeIfClosed(gap: Gap): Gap | null {
    const { older } = gap;
    if (gap.amount > 0 || older === null) return null;
    older.owners += gap.owners;
    gap.mergedInto = older;
    this.#unlink(gap);
    return older;
  }

  #unlink({ older, newer }: Gap): void {
    if (older !== null) older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
  }
}

/** The gap that one has become a part of, however often; the way there is shortened. */
function foundGap(gap: Gap): Gap {
  let found = gap;
  while (found.mergedInto !== null) found = found.mergedInto;
  for (let at = gap; at !== found; ) {
    const next = at.mergedInto as Gap;
    at.mergedInto = found;
    at = next;
  }
  return found;
}
