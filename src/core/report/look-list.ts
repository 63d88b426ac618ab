import { IDLE_AFTER_MS, type LaneState } from '../lanes/lane-state.js';
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

/**
 * Which of the served lanes a round looks at: those that were asked since the last round or touched within half a
 * second, or their turn of them where they are many, and those at rest whose turn it is. So the work of a round is in
 * proportion to them, not to all that are served: looking at 5,000 lanes in every round was most of a node's work at
 * the scale of bench:scale.
 *
 * Asking a limiter refills it, so one that was refilled before the last round has not been asked since.
 */
export class LookList {
  /** Indices in the list of lanes, ascending, because reports follow that order; the first `count` are valid. */
  indexes = new Int32Array(0);
  count = 0;
  readonly #limiter: Limiter;
  readonly #slowestRounds: number;
  #lanes: readonly LaneState[] = [];
  #touchedMs = new Float64Array(0);
  #turns = new Int32Array(0);
  #turnCount = REST_ROUNDS;
  #byTurn = groupsOf(new Int32Array(0), REST_ROUNDS);
  /** In blocks of 64 lane numbers, because the limiter marks lanes that were asked in such blocks. */
  #byBlock = groupsOf(new Int32Array(0), 0);
  /** Indices of lanes that were touched within REST_AFTER_MS, put off or asked, and the mark of every lane. */
  #busy = new Int32Array(0);
  #busyCount = 0;
  #marks = new Uint8Array(0);
  /** A bit per index: sorts the lanes that this round looks at. */
  #due = new Uint32Array(0);
  #round = 0;
  /** In the list of busy lanes, whose turn it is next. */
  #next = 0;
  #sampledMs = Number.NEGATIVE_INFINITY;
  readonly #idle: LaneState[] = [];

  constructor(limiter: Limiter, slowSpanMs: number, sampleIntervalMs: number) {
    this.#limiter = limiter;
    this.#slowestRounds = Math.floor((REST_SLOW_SPANS * slowSpanMs) / sampleIntervalMs);
  }

  /** Finds the lanes that this round looks at. `lanes` must be a new array whenever the list has changed. */
  begin(lanes: readonly LaneState[], nowMs: number): void {
    this.#round++;
    if (lanes !== this.#lanes) this.#take(lanes);
    this.#markAsked();
    this.#addBusy(nowMs);
    const { starts, members } = this.#byTurn;
    const turn = this.#round % this.#turnCount;
    for (let at = starts[turn] as number; at < (starts[turn + 1] as number); at++) this.#add(members[at] as number);
    this.#order();
    this.#sampledMs = nowMs;
  }

  /** Whether the lane is sampled, asked or not: it was touched a moment ago, or it is its turn. */
  isSampled(index: number, touchedMs: number, nowMs: number): boolean {
    this.#touchedMs[index] = touchedMs;
    const isBusy = nowMs - touchedMs <= REST_AFTER_MS;
    const wasPutOff = this.#isPutOff(index);
    if (this.#marks[index] !== AT_REST || isBusy) this.#mark(index, BUSY);
    return isBusy || wasPutOff || this.#turns[index] === this.#round % this.#turnCount;
  }

  /**
   * The next round looks at a lane again that could say nothing in this one, because its record had just been written.
   * A lane at rest would otherwise wait for its next turn, and for ever where another lane of its record is told just
   * before each of its turns.
   *
   * @param isPressing whether it has something to say already; the others take turns where many are busy
   */
  putOff(index: number, isPressing: boolean): void {
    this.#mark(index, isPressing ? PRESSING : PUT_OFF);
  }

  #isPutOff(index: number): boolean {
    const mark = this.#marks[index];
    return mark === PUT_OFF || mark === PRESSING;
  }

  #mark(index: number, mark: number): void {
    if (this.#marks[index] === AT_REST) this.#busy[this.#busyCount++] = index;
    this.#marks[index] = mark;
  }

  /** The lanes that have nothing to say and nothing to do: they need not be served any more. Each is named once. */
  idle(nowMs: number): readonly LaneState[] {
    this.#idle.length = 0;
    for (let index = 0; index < this.#lanes.length; index++) {
      if (nowMs - (this.#touchedMs[index] as number) <= IDLE_AFTER_MS) continue;
      const lane = this.#lanes[index] as LaneState;
      if (lane.hasEntry || hasToRemember(lane)) continue;
      this.#idle.push(lane);
      this.#touchedMs[index] = Number.POSITIVE_INFINITY;
    }
    return this.#idle;
  }

  #take(lanes: readonly LaneState[]): void {
    const asked = this.#lanes.filter((_, index) => this.#marks[index] === ASKED);
    this.#lanes = lanes;
    const bounded = Math.min(this.#slowestRounds, Math.ceil(lanes.length / REST_LANES_PER_ROUND));
    const count = Math.max(REST_ROUNDS, bounded);
    this.#turnCount = count;
    this.#turns = Int32Array.from(lanes, ({ lane }) => count - 1 - ((lane + count - 1) % count));
    this.#byTurn = groupsOf(this.#turns, count);
    const blocks = Int32Array.from(lanes, ({ lane }) => lane >> 6);
    this.#byBlock = groupsOf(blocks, this.#limiter.buckets.asked.length);
    this.#touchedMs = Float64Array.from(lanes, ({ touchedMs }) => touchedMs);
    this.indexes = new Int32Array(lanes.length);
    this.#due = new Uint32Array(Math.ceil(lanes.length / 32));
    this.#marks = new Uint8Array(lanes.length).fill(BUSY);
    this.#busy = Int32Array.from(lanes, (_, index) => index);
    this.#busyCount = lanes.length;
    if (asked.length === 0) return;
    const wereAsked = new Set(asked);
    lanes.forEach((lane, index) => {
      if (wereAsked.has(lane)) this.#marks[index] = ASKED;
    });
  }

  #markAsked(): void {
    const { asked, refilledMs } = this.#limiter.buckets;
    const { starts, members } = this.#byBlock;
    for (let block = 0; block < starts.length - 1; block++) {
      if (asked[block] !== 1) continue;
      for (let at = starts[block] as number; at < (starts[block + 1] as number); at++) {
        const index = members[at] as number;
        const { lane } = this.#lanes[index] as LaneState;
        if (refilledMs.at(lane) < this.#sampledMs) continue;
        if (!this.#isPutOff(index)) this.#mark(index, ASKED);
        if (this.#limiter.buckets.isTakenFrom(lane)) this.#add(index);
      }
    }
    asked.fill(0);
  }

  #addBusy(nowMs: number): void {
    this.#dropRested(nowMs);
    const count = this.#busyCount;
    const most = Math.max(BUSY_LANES_PER_ROUND, Math.ceil(count / BUSY_ROUNDS));
    for (let added = Math.min(count, most); added > 0; added--) {
      if (this.#next >= count) this.#next = 0;
      this.#add(this.#busy[this.#next++] as number);
    }
  }

  /** Takes out of the busy lanes those that have been looked at and rest now. The others keep their order. */
  #dropRested(nowMs: number): void {
    const next = this.#next;
    let kept = 0;
    for (let at = 0; at < this.#busyCount; at++) {
      if (at === next) this.#next = kept;
      const index = this.#busy[at] as number;
      const isTouched = nowMs - (this.#touchedMs[index] as number) <= REST_AFTER_MS;
      if (isTouched || this.#marks[index] !== BUSY) this.#busy[kept++] = index;
      else this.#marks[index] = AT_REST;
      if (this.#marks[index] === PRESSING) this.#add(index);
    }
    this.#busyCount = kept;
  }

  #add(index: number): void {
    this.#due[index >> 5] = (this.#due[index >> 5] as number) | (1 << (index & 31));
  }

  #order(): void {
    this.count = 0;
    for (let word = 0; word < this.#due.length; word++) {
      for (let bits = this.#due[word] as number; bits !== 0; bits &= bits - 1) {
        this.indexes[this.count++] = (word << 5) + 31 - Math.clz32(bits & -bits);
      }
      this.#due[word] = 0;
    }
  }
}

/**
 * Indexes of lanes by a number: those of the number `n` are `members` from `starts[n]` to `starts[n + 1]`, ascending.
 */
interface Groups {
  readonly starts: Int32Array;
  readonly members: Int32Array;
}

/** Fills them in two passes, counting and placing, because lanes may come and go in every round. */
function groupsOf(numbers: Int32Array, count: number): Groups {
  const starts = new Int32Array(count + 1);
  for (const number of numbers) starts[number + 1] = (starts[number + 1] as number) + 1;
  for (let number = 0; number < count; number++) {
    starts[number + 1] = (starts[number + 1] as number) + (starts[number] as number);
  }
  const members = new Int32Array(numbers.length);
  const next = starts.slice();
  numbers.forEach((number, index) => {
    const at = next[number] as number;
    members[at] = index;
    next[number] = at + 1;
  });
  return { starts, members };
}

/** Checks for debts and untold use, which end with the lane's account. */
function hasToRemember({ tokens }: LaneState): boolean {
  return tokens !== null && (tokens.hasUnheard || tokens.slots.some(({ account }) => account.owed > 0));
}
