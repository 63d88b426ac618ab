import type { GroupConfig } from '../config/resolved-config.js';
import { type Ask, Levels } from '../core/limiter/levels.js';
import { GRANTED, type Limiter, REFUSED, UNCONFIRMED } from '../core/limiter/limiter.js';
import { DIRECTION_COUNT, laneOf, lanesOf, MESSAGES } from '../core/vocabulary.js';
import { QuotameshError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { QuotaNode } from '../runtime/quota-node.js';
import { directionOf, groupUnknown, noEndOf, rejectAmounts, rejectUnlessName, rejectUnlessSomething } from './asked.js';
import { Batches } from './batches.js';
import {
  type AcquireOptions,
  type Amounts,
  type BatchAmounts,
  type Decision,
  GRANTED_DECISION,
  type NotReady,
  type Origin,
  RETRY_AFTER_MS_MAX,
  type Refused,
  type Reservation,
  type ReserveOptions,
  type TakeOptions,
  type WaitOptions,
} from './decision.js';
import { LaneBounds } from './lane-bounds.js';
import { NoGrant } from './no-grant.js';
import { cutToPart, ofPart } from './part.js';
import { RefusalLedger } from './refusal-ledger.js';
import { reservationOf } from './reservation.js';
import { Waiting } from './waiting.js';

/**
 * Admission: checks what is asked for, finds the lane, and lets the limiter decide. Shared by the library and HTTP.
 * Only `acquire` waits, and a granted acquire allocates nothing.
 */
export class Gate {
  readonly levels: Levels;
  readonly waiting: Waiting;
  readonly refusals: RefusalLedger;
  readonly batches: Batches;
  readonly #node: QuotaNode;
  readonly #noGrant: NoGrant;
  readonly #limiter: Limiter;
  readonly #clock: Clock;
  readonly #groups: ReadonlyMap<string, number>;
  readonly #bounds: LaneBounds;
  /** Scratch space: what is being asked. */
  readonly #ask: Ask = { lane: 0, messages: 0, bytes: 0, retry: false, topic: '', client: '' };

  constructor(node: QuotaNode) {
    const { config, groups, limiter, clock } = node;
    this.#node = node;
    this.#limiter = limiter;
    this.#clock = clock;
    this.#groups = groups.numbers;
    this.refusals = new RefusalLedger(node);
    this.levels = new Levels(limiter, groups.list, config.limits, clock());
    const decide = (ask: Ask) => this.#answer(ask, clock());
    this.#noGrant = new NoGrant(node, this);
    const explain = (ask: Ask, answer: number) => this.#noGrant.explain(ask, answer);
    this.waiting = new Waiting({ limiter, clock, max: config.limits.maxWaiting, decide, explain });
    this.#bounds = new LaneBounds(groups, this.levels);
    this.batches = new Batches(node, this);
    for (let group = 0; group < groups.size; group++) this.#openDisabled(group);
  }

  /** A group is new, or another than before. Whoever waits in its lines goes on waiting, for what it is now. */
  groupChanged(group: number): void {
    this.levels.groupChanged(group, this.#clock());
    this.#bounds.read(group);
    this.#openDisabled(group);
  }

  tryAcquire(group: string, amounts: Amounts, options?: AcquireOptions): Decision {
    const lane = laneOf(this.groupIndex(group), directionOf(options));
    const messages = amounts?.messages ?? 0;
    const bytes = amounts?.bytes ?? 0;
    if (!this.#isAllowed(lane, messages, bytes)) this.#reject(lane, amounts);
    const retry = options?.retry === true;
    if (options?.atMost === true || this.levels.isUsedBy[lane] === 1 || this.#limiter.heldBack[lane] !== 0) {
      return this.#tryAll(lane, messages, bytes, options ?? NO_OPTIONS);
    }
    if (this.#bounds.isOpen[lane] === 1 && this.#limiter.passUnlimited(lane, messages, bytes, retry))
      return GRANTED_DECISION;
    const answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, this.#clock());
    return answer === GRANTED ? GRANTED_DECISION : this.#notAtOnce(lane, messages, bytes, retry, answer);
  }

  /** Whether an acquire would be granted now. Takes nothing, counts nothing. */
  containsTokens(group: string, amounts: Amounts, origin?: Origin): boolean {
    const ask = this.#askOf(group, amounts, origin);
    const nowMs = this.#node.clock();
    this.#node.serve(ask.lane);
    return this.levels.containsTokens(ask, nowMs);
  }

  /** Charges work that is done whatever it costs. It may leave a debt of at most `debtMs` of every limit. */
  consume(group: string, amounts: Amounts, origin?: Origin): void {
    rejectUnlessSomething(amounts);
    this.#charge(this.#place(group, amounts.messages ?? 0, amounts.bytes ?? 0, origin));
  }

  /** As `consume`, for work that somebody asks for: at most maxRequest. */
  passBy(group: string, amounts: Amounts, origin?: Origin): Decision {
    this.#charge(this.#askOf(group, amounts, origin));
    return GRANTED_DECISION;
  }

  #charge(ask: Ask): void {
    this.#node.serve(ask.lane);
    this.levels.consume(ask, this.groupOf(ask.lane).debtMs, this.#clock());
  }

  /** Takes the amounts for work whose cost is known only afterwards. */
  reserve(group: string, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady {
    const ask = { ...this.#askOf(group, amounts, options), retry: options?.retry === true };
    const answer = this.servedAnswer(ask.lane, () => this.levels.reserve(ask, this.#node.clock()));
    return answer === GRANTED ? reservationOf(this.#node, ask) : this.#noGrant.explain(ask, answer);
  }

  /** Whether a lane needs no share (lane-bounds.ts). */
  isFree(lane: number): boolean {
    return this.#bounds.isFree[lane] === true;
  }

  /** A disabled group does not even wait until the node is ready. */
  #openDisabled(group: number): void {
    for (const lane of lanesOf(group)) {
      this.#limiter.close(lane);
      if (!this.#node.groups.at(group).enabled) this.#limiter.open(lane, this.#clock());
    }
  }

  /** What a batch asks for; `all` is what there is. Not the scratch: a batch keeps it. */
  askForBatch(group: string, amounts: BatchAmounts, options: TakeOptions): Ask {
    const retry = options.retry === true;
    if (amounts !== 'all') return { ...this.#askOf(group, amounts, options), retry };
    const ask = { ...this.#place(group, 1, 0, options), retry };
    this.#node.serve(ask.lane);
    const there = this.levels.available(ask, MESSAGES, this.#clock());
    if (there === Number.POSITIVE_INFINITY) throw noEndOf(this.groupOf(ask.lane).name);
    ask.messages = Math.max(1, Math.floor(there + 1e-6));
    return ask;
  }

  /** The node stops. */
  close(): void {
    this.waiting.close();
    this.batches.close();
  }

  /** Once a round. */
  keep(nowMs: number): void {
    this.levels.keep(nowMs);
    this.batches.expire(nowMs);
  }

  explain(ask: Ask, answer: number): Refused | NotReady {
    return this.#noGrant.explain(ask, answer);
  }

  /** Milliseconds until a useful amount (1 % of the burst, at least one unit) is back in every level; at most a minute. */
  throttleDurationMs(group: string, origin?: Origin): number {
    const ask = this.#place(group, 0, 0, origin);
    this.#node.serve(ask.lane);
    return Math.min(RETRY_AFTER_MS_MAX, Math.ceil(this.levels.throttleMs(ask, this.#node.clock())));
  }

  /** As `tryAcquire`, but waits its turn for up to `waitMs`. */
  acquire(group: string, amounts: Amounts, options: WaitOptions): Promise<Decision> {
    const ask = { ...this.#askOf(group, amounts, options), retry: options.retry === true };
    return this.waiting.acquire(ask, options);
  }

  /** Config index of a group, or of the default group. Throws GROUP_UNKNOWN naming the near ones. */
  groupIndex(group: string): number {
    const index = this.#groups.get(group);
    if (index !== undefined) return index;
    const { defaultGroup } = this.#node.config;
    if (defaultGroup !== null) return this.#groups.get(defaultGroup) as number;
    return this.unknownGroup(group);
  }

  unknownGroup(group: string): never {
    throw groupUnknown(group, [...this.#groups.keys()]);
  }

  #isAllowed(lane: number, messages: number, bytes: number): boolean {
    // Whole numbers first: to compare a BigInt or a Symbol throws what nobody can read.
    return (
      Number.isInteger(messages) &&
      Number.isInteger(bytes) &&
      messages >= 0 &&
      messages <= (this.#bounds.maxMessages[lane] as number) &&
      bytes >= 0 &&
      bytes <= (this.#bounds.maxBytes[lane] as number) &&
      messages + bytes > 0
    );
  }

  /** All levels, whoever waits, or a part of what is asked. */
  #tryAll(lane: number, messages: number, bytes: number, options: AcquireOptions): Decision {
    const ask = this.#placeAt(lane, messages, bytes, options);
    ask.retry = options.retry === true;
    if (options.atMost === true) return this.#tryPart(ask);
    const answer = this.#passing(ask);
    return answer === GRANTED ? GRANTED_DECISION : this.#noGrant.explain(ask, answer);
  }

  /** Whole messages of the average size asked for; what is left out counts as refused demand. */
  #tryPart(ask: Ask): Decision {
    const { lane, messages, bytes, retry } = ask;
    cutToPart(this.#node, ask);
    const answer = this.#passing(ask);
    if (answer !== GRANTED) return this.#noGrant.explain(ask, ofPart(this.#limiter, ask, answer));
    const [leftMessages, leftBytes] = [messages - ask.messages, bytes - ask.bytes];
    if (leftMessages > 0 || leftBytes > 0) this.#limiter.countRefused(lane, leftMessages, leftBytes, retry);
    return { granted: true, messages: ask.messages, bytes: ask.bytes };
  }

  /** Decides for somebody who does not wait, although others may. */
  #passing(ask: Ask): number {
    if (this.#limiter.heldBack[ask.lane] === 0 || this.waiting.mayPass(ask)) {
      return this.#answer(ask, this.#node.clock());
    }
    this.#limiter.countRefused(ask.lane, ask.messages, ask.bytes, ask.retry);
    return REFUSED + this.#limiter.buckets.scarcest(ask.lane, ask.messages, ask.bytes);
  }

  #answer(ask: Ask, nowMs: number): number {
    const { levels } = this;
    if (levels.isUsedBy[ask.lane] === 1) {
      return this.servedAnswer(ask.lane, () => levels.tryAcquire(ask, nowMs));
    }
    const { lane, messages, bytes, retry } = ask;
    return this.servedAnswer(lane, () => this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs));
  }

  #notAtOnce(lane: number, messages: number, bytes: number, retry: boolean, first: number): Decision {
    let answer = first;
    if (answer === UNCONFIRMED && this.#node.isReady) {
      this.#node.serve(lane);
      answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, this.#node.clock());
      if (answer === GRANTED) return GRANTED_DECISION;
    }
    const ask = this.#ask;
    ask.lane = lane;
    ask.messages = messages;
    ask.bytes = bytes;
    ask.topic = '';
    ask.client = '';
    return this.#noGrant.explain(ask, answer);
  }

  /** A lane is served from its first use on. */
  servedAnswer(lane: number, answer: () => number): number {
    const first = answer();
    if (first !== UNCONFIRMED || !this.#node.isReady) return first;
    this.#node.serve(lane);
    return answer();
  }

  #askOf(group: string, amounts: Amounts, origin: Origin | undefined): Ask {
    const ask = this.#place(group, amounts?.messages ?? 0, amounts?.bytes ?? 0, origin);
    if (!this.#isAllowed(ask.lane, ask.messages, ask.bytes)) this.#reject(ask.lane, amounts);
    return ask;
  }

  #place(group: string, messages: number, bytes: number, origin: Origin | undefined): Ask {
    const lane = laneOf(this.groupIndex(group), directionOf(origin));
    return this.#placeAt(lane, messages, bytes, origin ?? NO_OPTIONS);
  }

  #placeAt(lane: number, messages: number, bytes: number, { topic = '', client = '' }: Origin): Ask {
    rejectUnlessName('topic', topic);
    rejectUnlessName('client', client);
    const ask = this.#ask;
    ask.lane = lane;
    ask.messages = messages;
    ask.bytes = bytes;
    ask.retry = false;
    ask.topic = topic;
    ask.client = client;
    return ask;
  }

  #reject(lane: number, amounts: Amounts): never {
    const group = this.groupOf(lane).name;
    rejectAmounts(amounts, { messages: this.#bounds.maxMessages[lane]!, bytes: this.#bounds.maxBytes[lane]!, group });
    throw new QuotameshError('UNEXPECTED', { reason: 'an amount was refused for no reason' });
  }

  groupOf(lane: number): GroupConfig {
    return this.#node.groups.at(Math.floor(lane / DIRECTION_COUNT));
  }
}

const NO_OPTIONS: AcquireOptions = Object.freeze({});
