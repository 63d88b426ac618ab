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
  type Where,
} from '../api/decision.js';
import type { GroupConfig } from '../config/resolved/resolved-config.js';
import type { Scope } from '../core/attachments/attachment.js';
import { DIRECTION_COUNT, laneOf, lanesOf } from '../core/base/vocabulary.js';
import { JointLevels, type JointRequest } from '../core/limiter/joint-levels.js';
import { Levels } from '../core/limiter/levels.js';
import { GRANTED, type Limiter, UNCONFIRMED } from '../core/limiter/limiter.js';
import { OneBucket } from '../core/limiter/one-bucket.js';
import type { QuotaNode } from '../node/quota-node.js';
import type { Clock } from '../ports/clock.js';
import { OpenBatches } from './batch/open-batches.js';
import { Decider } from './decide/decider.js';
import { RefusalExplainer } from './decide/explain-refusal.js';
import { RefusalLedger } from './decide/refusal-ledger.js';
import { LaneBounds } from './request/lane-bounds.js';
import {
  directionOf,
  groupUnknown,
  rejectAboveConsume,
  rejectUnlessOptions,
  rejectUnlessSomething,
} from './request/request-checks.js';
import { RequestReader, retried, setRetry } from './request/request-reader.js';
import { ScopeResolver } from './request/scope-resolver.js';
import { exemptReservation, reservationOf } from './reservation/one-reservation.js';
import { Waiting } from './wait/wait-lines.js';

/**
 * Admission: checks what is asked for, finds the lane, and lets the limiter decide. Shared by the library and HTTP.
 * Only `acquire` waits, and a granted acquire allocates nothing.
 */
export class Gate {
  readonly levels: Levels;
  readonly joint: JointLevels;
  readonly places: ScopeResolver;
  readonly waiting: Waiting;
  readonly refusals: RefusalLedger;
  readonly batches: OpenBatches;
  readonly #node: QuotaNode;
  readonly #noGrant: RefusalExplainer;
  readonly #limiter: Limiter;
  readonly #clock: Clock;
  readonly #groups: ReadonlyMap<string, number>;
  readonly #bounds: LaneBounds;
  readonly #asks: RequestReader;
  readonly #deciding: Decider;
  readonly #hints: OneBucket;
  #keptLane = 0;

  constructor(node: QuotaNode) {
    const { config, groups, limiter, clock } = node;
    this.#node = node;
    this.#limiter = limiter;
    this.#clock = clock;
    this.#groups = groups.numbers;
    this.#hints = new OneBucket(HINTS_PER_SECOND, HINTS_PER_SECOND, clock());
    this.refusals = new RefusalLedger(node);
    this.levels = new Levels(limiter, groups.list, config.limits, clock());
    this.joint = new JointLevels(this.levels, (lane) => this.groupOf(lane).debtMs);
    this.places = new ScopeResolver(node);
    this.#noGrant = new RefusalExplainer(node, this);
    this.#deciding = new Decider(node, this);
    const decide = (ask: JointRequest) => this.#deciding.answer(ask, clock());
    const explain = (ask: JointRequest, answer: number) => this.#noGrant.explain(ask, answer);
    const decideInPassing = (ask: JointRequest) => this.#deciding.passing(ask);
    this.waiting = new Waiting({ limiter, clock, max: config.limits.maxWaiting, decide, decideInPassing, explain });
    this.#bounds = new LaneBounds(groups, this.levels);
    this.#asks = new RequestReader(node, this, this.#bounds);
    this.batches = new OpenBatches(node, this);
    for (let group = 0; group < groups.size; group++) this.#openDisabled(group);
  }

  /** A group is new, or another than before. Whoever waits in its lines goes on waiting, for what it is now. */
  groupChanged(group: number): void {
    this.levels.groupChanged(group, this.#clock());
    this.#bounds.read(group);
    this.#openDisabled(group);
  }

  /** @param nowMs of whoever decides many in one go and has read the clock for all of them; absent = it is read */
  tryAcquire(where: Where, amounts: Amounts, options?: AcquireOptions, nowMs?: number): Decision {
    if (options !== undefined) rejectUnlessOptions(options);
    if (typeof where === 'object' && where !== null) return this.#tryPlace(where, amounts, options ?? NO_OPTIONS);
    const lane = laneOf(this.groupIndex(where), directionOf(options));
    const { messages = 0, bytes = 0 } = amounts ?? NO_AMOUNTS;
    if (!this.#asks.isAllowed(lane, messages, bytes)) this.#asks.reject(lane, amounts);
    const retry = options?.retry === true;
    if (options?.atMost === true || this.levels.isUsedBy[lane] === 1 || this.#limiter.heldBack[lane] !== 0) {
      return this.#tryAll(this.#asks.placeAt(lane, messages, bytes, options ?? NO_OPTIONS), options ?? NO_OPTIONS);
    }
    if (this.#bounds.isOpen[lane] === 1 && this.#limiter.passUnlimited(lane, messages, bytes, retry))
      return GRANTED_DECISION;
    const answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs ?? this.#clock());
    return answer === GRANTED ? GRANTED_DECISION : this.#notAtOnce(lane, messages, bytes, retry, answer);
  }

  /** Whether an acquire would be granted now. Takes nothing, counts nothing. */
  containsTokens(where: Where, amounts: Amounts, origin?: Origin): boolean {
    const ask = this.#asks.askOf(where, amounts, origin);
    if (ask === null) return true;
    this.#deciding.serve(ask);
    return this.joint.containsTokens(ask, this.#node.clock());
  }

  /** Charges work that is done whatever it costs. It may leave a debt of at most `debtMs` of every limit. */
  consume(where: Where, amounts: Amounts, origin?: Origin): void {
    rejectUnlessSomething(amounts);
    rejectAboveConsume(amounts);
    this.#charge(this.#asks.place(where, amounts.messages ?? 0, amounts.bytes ?? 0, origin), amounts, origin);
  }

  /** As `consume`, for work that somebody asks for: at most maxRequest. */
  passBy(where: Where, amounts: Amounts, origin?: Origin): Decision {
    this.#charge(this.#asks.askOf(where, amounts, origin), amounts, origin);
    return GRANTED_DECISION;
  }

  #charge(ask: JointRequest | null, amounts: Amounts, origin: Origin | undefined): void {
    if (ask === null) {
      this.#passExempt(amounts, origin);
      return;
    }
    this.#deciding.serve(ask);
    this.joint.consume(ask, this.#clock());
  }

  /** Takes the amounts for work whose cost is known only afterwards. */
  reserve(where: Where, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady {
    const asked = this.#asks.askOf(where, amounts, options);
    if (asked === null) {
      this.#passExempt(amounts, options);
      return exemptReservation();
    }
    const ask = retried(asked, options);
    const answer = this.#deciding.reserving(ask);
    return answer === GRANTED ? reservationOf(this.#node, ask) : this.#noGrant.explain(ask, answer);
  }

  /** Whether a lane needs no share (lane-bounds.ts). */
  isFree(lane: number): boolean {
    return this.#bounds.isFree[lane] === true;
  }

  /** Throws COMMIT_ABOVE_MAX_REQUEST. An amount up to the estimate can always be committed. */
  rejectAboveCommit(ask: JointRequest, actual: Required<Amounts>): void {
    this.#asks.rejectAboveCommit(ask, actual);
  }

  /** A disabled group does not even wait until the node is ready. */
  #openDisabled(group: number): void {
    for (const lane of lanesOf(group)) {
      this.#limiter.close(lane);
      if (!this.#node.groups.at(group).enabled) this.#limiter.open(lane, this.#clock());
    }
  }

  /** What a batch asks for; `all` is what there is. Not the scratch: a batch keeps it. null = exempt. */
  askForBatch(where: Where, amounts: BatchAmounts, options: TakeOptions): JointRequest | null {
    return this.#asks.forBatch(where, amounts, options);
  }

  /** As `reserve`, for whoever does not wait although others may, or is the next in line, and keeps the ask. */
  reserveInTurn(ask: JointRequest, isItsTurn = false): number {
    return this.#deciding.reserving(ask, isItsTurn);
  }

  /** Of a part that was granted. */
  leftOut(ask: JointRequest, messages: number, bytes: number): void {
    this.#deciding.leftOut(ask, messages, bytes, ask.retry);
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
    const { laneCount } = this.#limiter;
    for (let looked = 0; looked < Math.min(KEPT_LANES, laneCount); looked++) {
      this.#limiter.keepExact(this.#keptLane);
      this.#keptLane = (this.#keptLane + 1) % laneCount;
    }
  }

  explain(ask: JointRequest, answer: number): Refused | NotReady {
    return this.#noGrant.explain(ask, answer);
  }

  /**
   * Milliseconds until a useful amount (1 % of the burst, at least one unit) is back in every level; at most a minute.
   */
  throttleDurationMs(where: Where, origin?: Origin): number {
    const ask = this.#asks.place(where, 0, 0, origin);
    if (ask === null) return 0;
    this.#deciding.serve(ask);
    return Math.min(RETRY_AFTER_MS_MAX, Math.ceil(this.joint.throttleMs(ask, this.#node.clock())));
  }

  /** As `tryAcquire`, but waits its turn for up to `waitMs`. */
  async acquire(where: Where, amounts: Amounts, options: WaitOptions): Promise<Decision> {
    const ask = this.#asks.askOf(where, amounts, options);
    if (ask === null) return this.#passExempt(amounts, options);
    return this.waiting.acquire(retried(ask, options), options);
  }

  /** Config index of a group, or of the default group. Throws GROUP_UNKNOWN naming the near ones. */
  groupIndex(group: string): number {
    const index = this.#groups.get(group);
    if (index !== undefined) return index;
    const { defaultGroup } = this.#node.config;
    if (defaultGroup !== null) return this.#groups.get(defaultGroup) as number;
    return this.unknownGroup(group);
  }

  /** Names similar groups, but only HINTS_PER_SECOND times a second, because each look goes through all groups. */
  unknownGroup(group: string): never {
    throw groupUnknown(group, this.#hints.take(this.#clock()) === 0 ? this.#groups.keys() : []);
  }

  #tryPlace(place: Scope, amounts: Amounts, options: AcquireOptions): Decision {
    const ask = this.#asks.askOf(place, amounts, options);
    return ask === null ? this.#passExempt(amounts, options) : this.#tryAll(ask, options);
  }

  /** Limited by nothing, and counted apart. */
  #passExempt(amounts: Amounts, origin: Origin | undefined): Decision {
    this.places.countExempt(directionOf(origin), amounts);
    return GRANTED_DECISION;
  }

  /** All levels, whoever waits, or a part of what is asked. */
  #tryAll(ask: JointRequest, options: AcquireOptions): Decision {
    setRetry(ask, options);
    if (options.atMost === true) return this.#deciding.tryPart(ask);
    const answer = this.#deciding.passing(ask);
    return answer === GRANTED ? GRANTED_DECISION : this.#noGrant.explain(ask, answer);
  }

  #notAtOnce(lane: number, messages: number, bytes: number, retry: boolean, first: number): Decision {
    let answer = first;
    if (answer === UNCONFIRMED && this.#node.isReady) {
      this.#node.serve(lane);
      answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, this.#node.clock());
      if (answer === GRANTED) return GRANTED_DECISION;
    }
    return this.#noGrant.explain(this.#asks.placeAt(lane, messages, bytes, NO_OPTIONS), answer);
  }

  groupOf(lane: number): GroupConfig {
    return this.#node.groups.at(Math.floor(lane / DIRECTION_COUNT));
  }
}

/** The sums of so many lanes are looked at in one round; 5,000 groups take 8 s. */
const KEPT_LANES = 64;
/** With 10,000 groups these take a few ms of CPU per second. */
const HINTS_PER_SECOND = 10;
const NO_OPTIONS: AcquireOptions = Object.freeze({});
const NO_AMOUNTS: Amounts = Object.freeze({});
