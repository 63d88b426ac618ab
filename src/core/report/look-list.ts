import { AT_REST_MS, LANES_PER_ROUND } from '../account/constants.js';
import type { LaneState } from '../account/lanes/lane-state.js';
import { grown } from '../base/grown.js';
import type { Limiter } from '../limiter/limiter.js';
import { IN_TIME_RATIO } from './constants/constants.js';
import { longSpanMs } from './sample/lane-sample.js';

/** Rounds of 20 ms until all lanes at rest had a turn. */
const REST_ROUNDS = AT_REST_MS / 20;
/** Rounds in which all busy lanes have a turn: none passes for one at rest. */
const BUSY_ROUNDS = IN_TIME_RATIO * REST_ROUNDS;
/** Lanes at rest per round, a quarter of the busy ones. */
const REST_LANES_PER_ROUND = LANES_PER_ROUND / 4;

const AT_REST = 0;
const BUSY = 1;
const PUT_OFF = 2;
/** Put off, and looked at in the next round in any case. */
const PRESSING = 3;
/** Asked, and not looked at since. */
const ASKED = 4;
/** Not served any more, and still among the busy ones. */
const GONE = 5;

/**
 * Chooses the served lanes that a round looks at: those asked since the last round or touched within half a second, or
 * in turn where they are many, and lanes at rest in turn. So the work of a round is in proportion to them, not to all
 * served lanes, and a lane comes or goes at the same cost in any number.
 *
 *     busy     up to LANES_PER_ROUND in every round, more in turn within BUSY_ROUNDS: 1,000 every 200 ms, 5,000
 *              every 400 ms and 250 in a round
 *     at rest  all within half a second; of many 25 per round, as long as all have a turn within 4/5 of the slow span
 *              that shows the end of a rate: 5,000 every 4 s of 5
 *
 * A look costs 8 to 12 µs of memory that is in no cache, and shows little new after 20 ms: the limiter bounds a node in
 * between, and a lane with a report due does not wait for its turn (Buckets.isTakenFrom).
 *
 * Asking a limiter refills it, so a lane refilled before the last round has not been asked since.
 */
export class LookList {
  /** Seats (LaneState), ascending as reports need them; the first `count` are valid. */
  seats = new Int32Array(0);
  count = 0;
  readonly #limiter: Limiter;
  readonly #slowestRounds: number;
  readonly #idleAfterMs: number;
  /** By seat; null = free. */
  readonly #lanes: (LaneState | null)[] = [];
  #servedCount = 0;
  #touchedMs = new Float64Array(0);
  /** Per seat, the round of its last turn at rest. */
  #turns = new Float64Array(0);
  #marks = new Uint8Array(0);
  /** Seat by number of the lane; −1 = it is not served. */
  #seatOf = new Int32Array(0);
  /** Seats of busy, put off and asked lanes, and of some gone. */
  #busy = new Int32Array(0);
  #busyCount = 0;
  /** A bit per seat that sorts the lanes of this round. */
  #due = new Uint32Array(0);
  #round = 0;
  /** Index of the next turn in the list of busy lanes. */
  #next = 0;
  /** Turns of a round; fewer from the list's end on. */
  #busyTurns = 0;
  /** The seat whose turn at rest is next. */
  #nextAtRest = 0;
  #sampledMs = -Infinity;
  readonly #idle: LaneState[] = [];

  constructor(limiter: Limiter, slowSpanMs: number, sampleIntervalMs: number) {
    this.#limiter = limiter;
    this.#slowestRounds = Math.floor((IN_TIME_RATIO * slowSpanMs) / sampleIntervalMs);
    this.#idleAfterMs = longSpanMs(slowSpanMs);
  }

  /** Adds a lane that is served from now on. */
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

  /** Removes a lane that is not served any more. A busy seat is dropped in its turn. */
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

  /** Tests if the lane is sampled: it was touched a moment ago, or has its turn. */
  isSampled(seat: number, touchedMs: number, nowMs: number): boolean {
    this.#touchedMs[seat] = touchedMs;
    const isBusy = nowMs - touchedMs <= AT_REST_MS;
    const wasPutOff = this.#isPutOff(seat);
    if (this.#marks[seat] !== AT_REST || isBusy) this.#mark(seat, BUSY);
    return isBusy || wasPutOff || this.#turns[seat] === this.#round;
  }

  /**
   * Puts a lane's look off to the next round: its record is too new to be replaced. A lane at rest would otherwise wait
   * for its next turn, and for ever if another lane's report always came just before.
   *
   * @param isPressing true for a due report; the others take turns where many are busy
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

  /** Lists the lanes to end, each of them once. */
  idle(nowMs: number): readonly LaneState[] {
    this.#idle.length = 0;
    for (let seat = 0; seat < this.#lanes.length; seat++) {
      if (nowMs - this.#touchedMs[seat] <= this.#idleAfterMs) continue;
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
    const needed = Math.max(LANES_PER_ROUND, Math.ceil(count / BUSY_ROUNDS));
    // Lanes that rest after their look leave the list: with fewer turns for that the last ones would be late.
    this.#busyTurns = Math.max(this.#busyTurns, needed);
    for (let added = Math.min(count, this.#busyTurns); added > 0; added--) {
      if (this.#next >= count) {
        this.#next = 0;
        this.#busyTurns = needed;
      }
      this.#add(this.#busy[this.#next++]);
    }
  }

  /** Removes busy lanes that have been looked at and rest now. The others keep their order. */
  #dropRested(nowMs: number): void {
    const next = this.#next;
    let kept = 0;
    for (let at = 0; at < this.#busyCount; at++) {
      if (at === next) this.#next = kept;
      const seat = this.#busy[at];
      const mark = this.#marks[seat];
      const isTouched = nowMs - this.#touchedMs[seat] <= AT_REST_MS;
      if (mark !== GONE && (isTouched || mark !== BUSY)) this.#busy[kept++] = seat;
      else this.#marks[seat] = AT_REST;
      if (mark === PRESSING) this.#add(seat);
    }
    this.#busyCount = kept;
  }

  /** Gives each of S seats a turn once in R rounds: free ones too, in the round r those up to S · r ÷ R. */
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
/** Bits of a block: the limiter marks asked lanes by block. */
const BLOCK_BITS = 6;

/** Copies a column with room for more: for twice as many at least, so that lanes that come one by one copy little. */
function longer<Column extends Int32Array | Uint32Array | Uint8Array | Float64Array>(
  column: Column,
  least: number,
  filled: number,
): Column {
  return grown(column, Math.max(64, Math.ceil(least), 2 * column.length), filled);
}

/** Tests for debts and unpublished use, which end with the lane's account. */
function hasToRemember({ tokens }: LaneState): boolean {
  return tokens !== null && (tokens.hasUnread || tokens.slots.some(({ account }) => account.owed > 0));
}
