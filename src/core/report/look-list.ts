import { IDLE_AFTER_MS, type LaneState } from '../account/lanes/lane-state.js';
import type { Limiter } from '../limiter/limiter.js';

/**
 * Lanes at rest are looked at once in this many rounds: half a second at 20 ms. Of many lanes no more than 25 in a
 * round, as long as all have their turn within 4/5 of the slow span that shows that a rate has ended: 5,000 every 4 s
 * of 5.
 */
const REST_ROUNDS = 25;
const REST_LANES_PER_ROUND = 25;
const REST_SLOW_SPANS = 0.8;
/** A lane that was touched is looked at in every round for so long. */
const REST_AFTER_MS = 500;

/**
 * So many busy lanes are looked at in every round; where there are more they take turns, but each has its turn within
 * BUSY_ROUNDS: 5,000 every 400 ms, 10,000 as often and 500 in a round. A look costs 8 to 12 µs of memory that is in no
 * cache, and tells little that is new after 20 ms: what a node may take is bounded by its limiter in between, and a
 * lane that has taken enough for a report does not wait for its turn (Buckets.isTakenFrom).
 */
const BUSY_LANES_PER_ROUND = 250;
const BUSY_ROUNDS = 20;

const AT_REST = 0;
const BUSY = 1;
const PUT_OFF = 2;
/** Put off, and looked at in the next round however many there are. */
const PRESSING = 3;
/** Asked, and not looked at since. */
const ASKED = 4;
/** Not served any more, and still among the busy ones. */
const GONE = 5;

/**
 * Chooses the served lanes that a round looks at: those that were asked since the last round or touched within half a
 * second, or their turn of them where they are many, and those at rest whose turn it is. So the work of a round is in
 * proportion to them, not to all that are served, and a lane that comes or goes costs as little however many there are.
 *
 * Asking a limiter refills it, so one that was refilled before the last round has not been asked since.
 */
export class LookList {
  /** Seats (LaneState), ascending, because reports follow that order; the first `count` are valid. */
  seats = new Int32Array(0);
  count = 0;
  readonly #limiter: Limiter;
  readonly #slowestRounds: number;
  /** By seat; null = nobody has it. */
  readonly #lanes: (LaneState | null)[] = [];
  #servedCount = 0;
  #touchedMs = new Float64Array(0);
  /** Per seat, the round in which its turn at rest was last. */
  #turns = new Float64Array(0);
  #marks = new Uint8Array(0);
  /** By number of the lane; −1 = it is not served. */
  #seatOf = new Int32Array(0);
  /** Seats of lanes that were touched within REST_AFTER_MS, put off or asked, and of some that are gone. */
  #busy = new Int32Array(0);
  #busyCount = 0;
  /** A bit per seat: sorts the lanes that this round looks at. */
  #due = new Uint32Array(0);
  #round = 0;
  /** In the list of busy lanes, whose turn it is next. */
  #next = 0;
  /** The seat whose turn at rest is next. */
  #nextAtRest = 0;
  #sampledMs = -Infinity;
  readonly #idle: LaneState[] = [];

  constructor(limiter: Limiter, slowSpanMs: number, sampleIntervalMs: number) {
    this.#limiter = limiter;
    this.#slowestRounds = Math.floor((REST_SLOW_SPANS * slowSpanMs) / sampleIntervalMs);
  }

  /** A lane is served from now on. */
  add(lane: LaneState): void {
    const { seat, touchedMs } = lane;
    if (seat >= this.#marks.length) this.#makeRoom(seat + 1);
    if (lane.lane >= this.#seatOf.length) this.#seatOf = longer(this.#seatOf, lane.lane + 1, NOT_SERVED);
    this.#seatOf[lane.lane] = seat;
    this.#lanes[seat] = lane;
    this.#servedCount++;
    this.#touchedMs[seat] = touchedMs;
    this.#mark(seat, BUSY);
  }

  /** A lane is not served any more. Where its seat is among the busy ones, it is dropped there in its turn. */
  remove({ lane, seat }: LaneState): void {
    this.#seatOf[lane] = NOT_SERVED;
    this.#lanes[seat] = null;
    this.#servedCount--;
    if (this.#marks[seat] !== AT_REST) this.#marks[seat] = GONE;
  }

  at(seat: number): LaneState {
    return this.#lanes[seat]!;
  }

  /** Finds the lanes that this round looks at. */
  begin(nowMs: number): void {
    this.#round++;
    this.#markAsked();
    this.#addBusy(nowMs);
    this.#addAtRest();
    this.#order();
    this.#sampledMs = nowMs;
  }

  /** Tests if the lane is sampled, asked or not: it was touched a moment ago, or it is its turn. */
  isSampled(seat: number, touchedMs: number, nowMs: number): boolean {
    this.#touchedMs[seat] = touchedMs;
    const isBusy = nowMs - touchedMs <= REST_AFTER_MS;
    const wasPutOff = this.#isPutOff(seat);
    if (this.#marks[seat] !== AT_REST || isBusy) this.#mark(seat, BUSY);
    return isBusy || wasPutOff || this.#turns[seat] === this.#round;
  }

  /**
   * The next round looks at a lane again that could say nothing in this one, because its record had just been written.
   * A lane at rest would otherwise wait for its next turn, and for ever where another lane of its record is told just
   * before each of its turns.
   *
   * @param isPressing whether it has something to say already; the others take turns where many are busy
   */
  putOff(seat: number, isPressing: boolean): void {
    this.#mark(seat, isPressing ? PRESSING : PUT_OFF);
  }

  #isPutOff(seat: number): boolean {
    const mark = this.#marks[seat];
    return mark === PUT_OFF || mark === PRESSING;
  }

  #mark(seat: number, mark: number): void {
    if (this.#marks[seat] === AT_REST) this.#busy[this.#busyCount++] = seat;
    this.#marks[seat] = mark;
  }

  /** The lanes that have nothing to say and nothing to do: they need not be served any more. Each is named once. */
  idle(nowMs: number): readonly LaneState[] {
    this.#idle.length = 0;
    for (let seat = 0; seat < this.#lanes.length; seat++) {
      if (nowMs - this.#touchedMs[seat] <= IDLE_AFTER_MS) continue;
      const lane = this.#lanes[seat]!;
      if (lane === null || lane.entry.isOpen || hasToRemember(lane)) continue;
      this.#idle.push(lane);
      this.#touchedMs[seat] = Infinity;
    }
    return this.#idle;
  }

  #markAsked(): void {
    const { asked } = this.#limiter.buckets;
    for (let block = 0; block < asked.length; block++) {
      if (asked[block] !== 1) continue;
      asked[block] = 0;
      const end = Math.min((block + 1) << BLOCK_BITS, this.#seatOf.length);
      for (let lane = block << BLOCK_BITS; lane < end; lane++) {
        const seat = this.#seatOf[lane];
        if (seat !== NOT_SERVED) this.#markIfAsked(lane, seat);
      }
    }
  }

  #markIfAsked(lane: number, seat: number): void {
    const { refilledMs } = this.#limiter.buckets;
    if (refilledMs.at(lane) < this.#sampledMs) return;
    if (!this.#isPutOff(seat)) this.#mark(seat, ASKED);
    if (this.#limiter.buckets.isTakenFrom(lane)) this.#add(seat);
  }

  #addBusy(nowMs: number): void {
    this.#dropRested(nowMs);
    const count = this.#busyCount;
    const most = Math.max(BUSY_LANES_PER_ROUND, Math.ceil(count / BUSY_ROUNDS));
    for (let added = Math.min(count, most); added > 0; added--) {
      if (this.#next >= count) this.#next = 0;
      this.#add(this.#busy[this.#next++]);
    }
  }

  /** Takes out of the busy lanes those that have been looked at and rest now. The others keep their order. */
  #dropRested(nowMs: number): void {
    const next = this.#next;
    let kept = 0;
    for (let at = 0; at < this.#busyCount; at++) {
      if (at === next) this.#next = kept;
      const seat = this.#busy[at];
      const mark = this.#marks[seat];
      const isTouched = nowMs - this.#touchedMs[seat] <= REST_AFTER_MS;
      if (mark !== GONE && (isTouched || mark !== BUSY)) this.#busy[kept++] = seat;
      else this.#marks[seat] = AT_REST;
      if (mark === PRESSING) this.#add(seat);
    }
    this.#busyCount = kept;
  }

  /** Each of S seats, free ones among them, has its turn once in R rounds: in the round r those up to S · r ÷ R. */
  #addAtRest(): void {
    const { length } = this.#lanes;
    const bounded = Math.min(this.#slowestRounds, Math.ceil(this.#servedCount / REST_LANES_PER_ROUND));
    const rounds = Math.max(REST_ROUNDS, bounded);
    const before = (this.#round + rounds - 1) % rounds;
    const turns = Math.floor((length * (before + 1)) / rounds) - Math.floor((length * before) / rounds);
    for (let turn = 0; turn < turns; turn++) {
      if (this.#nextAtRest >= length) this.#nextAtRest = 0;
      const seat = this.#nextAtRest++;
      this.#turns[seat] = this.#round;
      if (this.#lanes[seat] !== null) this.#add(seat);
    }
  }

  #add(seat: number): void {
    this.#due[seat >> 5] = this.#due[seat >> 5] | (1 << (seat & 31));
  }

  #order(): void {
    this.count = 0;
    for (let word = 0; word < this.#due.length; word++) {
      for (let bits = this.#due[word]; bits !== 0; bits &= bits - 1) {
        this.seats[this.count++] = (word << 5) + 31 - Math.clz32(bits & -bits);
      }
      this.#due[word] = 0;
    }
  }

  #makeRoom(seats: number): void {
    this.#touchedMs = longer(this.#touchedMs, seats, 0);
    this.#turns = longer(this.#turns, seats, 0);
    this.#marks = longer(this.#marks, seats, AT_REST);
    this.#busy = longer(this.#busy, seats, 0);
    this.#due = longer(this.#due, seats / 32 + 1, 0);
    this.seats = longer(this.seats, seats, 0);
  }
}

const NOT_SERVED = -1;
/** The limiter marks lanes that were asked in blocks of so many numbers, as a power of two. */
const BLOCK_BITS = 6;

/** The same with room for more: for twice as many at least, so that lanes that come one by one copy little. */
function longer<Column extends Int32Array | Uint32Array | Uint8Array | Float64Array>(
  column: Column,
  least: number,
  filled: number,
): Column {
  const room = Math.max(64, Math.ceil(least), 2 * column.length);
  const larger = new (column.constructor as new (length: number) => Column)(room);
  larger.fill(filled, column.length);
  larger.set(column);
  return larger;
}

/** Checks for debts and unpublished use, which end with the lane's account. */
function hasToRemember({ tokens }: LaneState): boolean {
  return tokens !== null && (tokens.hasUnread || tokens.slots.some(({ account }) => account.owed > 0));
}
