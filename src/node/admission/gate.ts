import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { type Clock, processTimers, type Timers } from '../../base/ports/clock.js';
import type { GroupConfig, KeyTemplate, LimitsConfig } from '../../config/resolved/resolved-config.js';
import { keyNameOf } from '../../config/setting/key-name.js';
import {
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  DIRECTIONS,
  type Direction,
  laneOf,
  lanesOf,
} from '../../core/base/vocabulary.js';
import type { Scope } from '../../core/beside/attachments/attachment.js';
import type { Attachments } from '../../core/beside/attachments/attachments.js';
import { JointLevels, type JointRequest } from '../../core/limiter/joint-levels.js';
import { HAS_BUDGET, HAS_SHADOW, HAS_SLOTS, IS_SHADOW, IS_STRICT, Levels } from '../../core/limiter/levels.js';
import { GRANTED, type Limiter, UNCONFIRMED } from '../../core/limiter/limiter.js';
import type { ServingLoop } from '../../core/machine/coordinator-view.js';
import type { BudgetUnit } from '../../core/strict/budget-units.js';
import {
  type AcquireOptions,
  type Amounts,
  type Decision,
  GRANTED_DECISION,
  type Granted,
  type Limiting,
  type NotReady,
  type Origin,
  type QuotaTold,
  type Refused,
  type RequestAmounts,
  type Reservation,
  type ReserveOptions,
  SHADOW_REFUSED_DECISION,
  type WaitOptions,
  type Where,
} from '../api/decision.js';
import type { Entered, EnterOptions } from '../api/slot.js';
import type { GroupTable } from '../groups/group-table.js';
import type { KeyBook } from '../groups/keys/key-book.js';
import { type KeptBudgets, NO_BUDGETS } from '../strict/budget-lanes.js';
import { type KeptSlots, NO_SLOTS } from '../strict/slot-lanes.js';
import { type KeptLanes, NO_STRICT_LANES } from '../strict/strict-lanes.js';
import { OpenBatches } from './batch/open-batches.js';
import { BudgetGate, type SpendEnd } from './budget/budget-gate.js';
import { BudgetHold } from './budget/budget-hold.js';
import { amountsIn, HeldUnits } from './budget/held-units.js';
import type { Decider } from './decide/decider.js';
import type { RefusalExplainer } from './decide/explain-refusal.js';
import type { QuotaTeller } from './decide/quota-told.js';
import { RefusalLedger } from './decide/refusal-ledger.js';
import { UnpublishedWork } from './decide/unpublished-work.js';
import { createDeciders } from './deciders.js';
import type { AdmissionWatch } from './request/admission-watch.js';
import { GroupNames } from './request/group-names.js';
import { KeptKeys } from './request/kept-keys.js';
import { LaneBounds } from './request/lane-bounds.js';
import {
  directionOf,
  rejectAboveConsume,
  rejectUnlessOptions,
  rejectUnlessSomething,
} from './request/request-checks.js';
import { RequestReader, retried, setRetry } from './request/request-reader.js';
import { ScopeResolver } from './request/scope-resolver.js';
import {
  type ChargeCosts,
  exemptReservation,
  type KeyReservationParts,
  type ReservationParts,
  reservationOf,
  unpublishedReservation,
} from './reservation/one-reservation.js';
import { ShadowBook } from './shadow/shadow-book.js';
import { orOne, SlotGate, type TokensAsked } from './slots/slot-gate.js';
import type { StrictGate } from './strict/strict-gate.js';
import { rejectUnlessWaiting, type Waiting } from './wait/wait-lines.js';

interface GateParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  /** Timers; default: the process's. */
  readonly timers?: Timers;
  readonly groups: GroupTable;
  /** Null = no template is configured. */
  readonly keys: KeyBook | null;
  readonly attachments: Attachments;
  readonly limits: LimitsConfig;
  /** Absent = no group is strict. */
  readonly strictLanes?: KeptLanes;
  /** Absent = no group limits concurrency. */
  readonly slotLanes?: KeptSlots;
  /** Absent = no group has a budget. */
  readonly budgets?: KeptBudgets;
  /** Group for unknown names; null = they are refused. */
  readonly defaultGroup: string | null;
  readonly loop: ServingLoop;
  /** Reasons for people; '' = the node is ready. */
  readonly whyNotReady: () => string;
  /** Charges costs that come with a commit. */
  readonly chargeCosts: ChargeCosts;
}

/**
 * Checks a request, finds its lane, and lets the limiter decide. It serves library, HTTP and MQTT. Only `acquire` and
 * `batches.take` wait; a granted `tryAcquire` allocates nothing.
 */
export class Gate {
  readonly levels: Levels;
  readonly joint: JointLevels;
  readonly scopes: ScopeResolver;
  readonly waiting: Waiting;
  readonly refusals: RefusalLedger;
  readonly batches: OpenBatches;
  readonly shadows: ShadowBook;
  /** Called when work that cannot be refused first exceeds a group's debt. */
  onLetOff: (group: string, direction: Direction) => void = () => {};
  readonly #loop: ServingLoop;
  readonly #limiter: Limiter;
  readonly #clock: Clock;
  readonly #groups: GroupTable;
  readonly #keys: KeyBook | null;
  readonly #names: GroupNames;
  readonly #bounds: LaneBounds;
  readonly #reader: RequestReader;
  readonly #explainer: RefusalExplainer;
  readonly #decider: Decider;
  readonly #teller: QuotaTeller;
  readonly #reservations: ReservationParts;
  readonly #unpublished: UnpublishedWork | null;
  readonly #ofKeys: KeyReservationParts | null;
  readonly strict: StrictGate;
  readonly budgets: BudgetGate;
  readonly #budgetLanes: KeptBudgets;
  readonly #strictLanes: KeptLanes;
  readonly slots: SlotGate;
  readonly #slotLanes: KeptSlots;
  readonly #kept: KeptKeys;
  #keptLane = 0;

  constructor(parts: GateParts) {
    const { limiter, clock, groups, keys, attachments, limits, defaultGroup, loop } = parts;
    const { whyNotReady, chargeCosts, timers = processTimers, strictLanes = NO_STRICT_LANES } = parts;
    this.#loop = loop;
    this.#limiter = limiter;
    this.#clock = clock;
    this.#groups = groups;
    this.#keys = keys;
    this.#names = new GroupNames(groups, defaultGroup, clock, keys && { groupOf: (name) => this.#groupOfKey(name) });
    this.#kept = new KeptKeys(keys);
    this.refusals = new RefusalLedger(loop);
    this.levels = new Levels(limiter, groups.list, limits, clock());
    const unlimitedOf = (lane: number) => laneOf(groups.unlimited as number, lane % DIRECTION_COUNT);
    this.joint = new JointLevels(this.levels, (lane) => groups.ofLane(lane).debtMs, unlimitedOf);
    this.scopes = new ScopeResolver(attachments, this.#names);
    this.#strictLanes = strictLanes;
    this.#slotLanes = parts.slotLanes ?? NO_SLOTS;
    this.slots = new SlotGate(parts);
    this.#budgetLanes = parts.budgets ?? NO_BUDGETS;
    for (let group = 0; group < groups.size; group++) this.#readStrict(group);
    this.#bounds = new LaneBounds(groups, this.levels, strictLanes);
    this.shadows = new ShadowBook({ limiter, levels: this.levels, groups, bounds: this.#bounds, loop });
    const { levels, joint, refusals, scopes, shadows } = this;
    const asked = { limiter, clock, groups, keys, loop, levels, joint, refusals, shadows, strict: strictLanes };
    const made = createDeciders({ ...asked, timers, limits, whyNotReady });
    const { teller, explainer, waiting, decider } = made;
    this.strict = made.strictGate;
    this.budgets = new BudgetGate({ ...asked, budgets: this.#budgetLanes, teller, whyNotReady, limits });
    this.#teller = teller;
    this.#explainer = explainer;
    this.waiting = waiting;
    this.#decider = decider;
    const of = { scopes, names: this.#names, bounds: this.#bounds, slotGate: this.slots };
    this.#reader = new RequestReader({ ...asked, ...of, kept: [this.strict, this.budgets] });
    const deciding = { clock, groups, scopes, reader: this.#reader, explainer, teller };
    this.#unpublished = keys === null ? null : new UnpublishedWork({ ...deciding, keys, kept: this.#kept });
    this.#ofKeys = keys === null ? null : { clock, groups, keys, chargeCosts, consume: this.consume.bind(this) };
    this.#reservations = { clock, groups, joint, reader: this.#reader, chargeCosts };
    this.batches = new OpenBatches({
      ...asked,
      ...deciding,
      limits,
      waiting,
      decider,
      unpublished: this.#unpublished,
      ofKeys: this.#ofKeys,
      tellLimit: (where, limit) => this.#tellLimit(where, limit),
    });
    for (let group = 0; group < groups.size; group++) this.#openDisabled(group);
  }

  told(lane: number): QuotaTold {
    return this.#teller.told(lane);
  }

  get watch(): AdmissionWatch | null {
    return this.#explainer.watch;
  }

  set watch(watch: AdmissionWatch | null) {
    this.#explainer.watch = watch;
  }

  /** Puts a new or changed group in force; waiting requests go on under the new limits. */
  groupChanged(group: number): void {
    this.levels.groupChanged(group, this.#clock());
    this.#readStrict(group);
    this.#bounds.read(group);
    this.shadows.read(group);
    this.#openDisabled(group);
  }

  /** Marks lanes about which no share decides alone: strict ones, those with slots or a budget. */
  #readStrict(group: number): void {
    this.#strictLanes.read(group);
    this.#slotLanes.read(group);
    this.#budgetLanes.read(group);
    const { beside } = this.levels;
    if (this.#slotLanes.keeps(group)) for (const lane of lanesOf(group)) beside[lane] |= HAS_SLOTS;
    if (this.#budgetLanes.keeps(group)) for (const lane of lanesOf(group)) beside[lane] |= HAS_BUDGET;
    for (const lane of lanesOf(group)) if (this.#strictLanes.get(lane) !== undefined) beside[lane] |= IS_STRICT;
  }

  groupRenamed(group: number): void {
    for (const lane of lanesOf(group)) {
      this.refusals.forget(lane);
      this.#explainer.forget(lane);
      this.shadows.forget(lane);
      this.#limiter.topics.forget(lane);
    }
  }

  /** Decides at once. @param nowMs time for callers with many requests; absent = read here */
  tryAcquire(where: Where, amounts: RequestAmounts, options?: AcquireOptions, nowMs?: number): Decision {
    rejectUnlessOptions(options);
    if (options?.limit !== undefined) this.#tellLimit(where, options.limit);
    if (this.#keys?.hasTemplates === true) {
      const unpublished = this.#unpublished?.tryAcquire(where, amounts, options, nowMs) ?? null;
      if (unpublished !== null) return unpublished;
    }
    if (typeof where === 'object' && where !== null) return this.#tryScope(where, amounts, options ?? NO_OPTIONS);
    const lane = laneOf(this.#names.indexOf(where), directionOf(options));
    const { messages = 0, bytes = 0 } = amounts ?? NO_AMOUNTS;
    if (!this.#reader.isAllowed(lane, messages, bytes)) this.#reader.reject(lane, amounts);
    if (options?.topic !== undefined) this.#limiter.topics.note(lane, options.topic);
    const retry = options?.retry === true;
    const isPlain = options === undefined || (options.atMost !== true && options.tell !== true);
    const beside = this.levels.beside[lane];
    if (!isPlain || (beside !== 0 && beside !== HAS_SHADOW) || this.#limiter.heldBack[lane] !== 0) {
      return this.#tryOtherwise(lane, amounts, isPlain, options ?? NO_OPTIONS, nowMs);
    }
    if (this.#bounds.isOpen[lane] === 1 && this.#limiter.passUnlimited(lane, messages, bytes, retry))
      return GRANTED_DECISION;
    const atMs = nowMs ?? this.#clock();
    const answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, atMs);
    if (answer !== GRANTED) return this.#notAtOnce(lane, messages, bytes, retry, answer);
    if (beside === 0 || retry) return GRANTED_DECISION;
    const shadow = this.shadows.askPlanned(lane, messages, bytes, GRANTED, atMs);
    return shadow === null ? GRANTED_DECISION : SHADOW_REFUSED_DECISION;
  }

  /** Takes a slot, where the group limits concurrency, and tokens; or neither. */
  tryEnter(where: Where, amounts: RequestAmounts | undefined, options: AcquireOptions = NO_OPTIONS): Entered {
    rejectUnlessOptions(options);
    const group = this.slotsOf(where);
    return this.slots.tryEnter(nameOf(where), group, this.#tokensOf(where, group, orOne(amounts), options), options);
  }

  /** Enters as `tryEnter`, but waits its turn for up to `waitMs`. */
  async enter(where: Where, amounts: RequestAmounts | undefined, options: EnterOptions = NO_OPTIONS): Promise<Entered> {
    rejectUnlessOptions(options);
    rejectUnlessWaiting({ waitMs: 0, ...options });
    const group = this.slotsOf(where);
    return this.slots.enter(nameOf(where), group, this.#tokensOf(where, group, orOne(amounts), options), options);
  }

  /** Returns the group whose slots a request takes; null = none. Makes groups of keys with slots alone. Throws KEYS_FULL. */
  slotsOf(where: Where): number | null {
    if (typeof where !== 'string' || (this.#slotLanes.isEmpty && !this.#kept.hasAny)) return null;
    const known = this.#groups.numbers.get(where);
    const isKept = known === undefined && this.#kept.has(where);
    if (known === undefined && !isKept && this.#keys?.isKey(where) === true) return null;
    const group = known ?? this.#names.indexOf(where);
    return this.#slotLanes.keeps(group) ? group : null;
  }

  /** Returns a key's group. Throws KEYS_FULL, also where the strict log has no room. */
  #groupOfKey(name: string): number | null {
    const settings = this.#kept.settingsOf(name);
    if (settings !== null) {
      const key = keyNameOf(name);
      if (settings.concurrency !== null) this.#slotLanes.rejectIfFull(key);
      if (settings.budget !== null) this.#budgetLanes.rejectIfFull(key, settings.budget);
    }
    return this.#keys?.groupOf(name) ?? null;
  }

  /** True = the strict log keeps something of keys. */
  get keepsKeys(): boolean {
    return this.#kept.hasAny;
  }

  /** Follows the templates in force. */
  templatesChanged(templates: readonly KeyTemplate[]): void {
    this.#kept.use(templates);
  }

  #tokensOf(where: Where, group: number | null, amounts: RequestAmounts, origin: Origin & Limiting): TokensAsked {
    const hold = this.#budgetLanes.isEmpty && !this.#kept.hasAny ? null : new BudgetHold();
    if (group === null) {
      return {
        hold,
        atOnce: (options) => this.tryAcquire(where, amounts, options),
        waiting: (options) => this.acquire(where, amounts, options),
      };
    }
    if (origin.limit !== undefined) this.#tellLimit(where, origin.limit);
    const request = this.#reader.forSlot(laneOf(group, directionOf(origin)), amounts, origin);
    // While it waits for a slot, the number of a key's group may become another's.
    const again = () => {
      if (!this.#groups.isKey(group)) return request;
      const lane = laneOf(this.#names.indexOf(where as string), directionOf(origin));
      return this.#reader.forSlot(lane, amounts, origin);
    };
    return {
      hold,
      atOnce: (options) => this.#tryKept(request, amounts, options),
      waiting: (options) => this.#acquireKept(again(), amounts, options),
    };
  }

  /** True = some group is strict, or has a budget. */
  get hasStrict(): boolean {
    return this.#strictLanes.all.size > 0 || !this.#budgetLanes.isEmpty;
  }

  /** Returns the unit of a group's or key's budget; null = it has none. */
  budgetUnitOf(name: string): BudgetUnit | null {
    if (this.#budgetLanes.isEmpty && !this.#kept.hasAny) return null;
    const number = this.#groups.numbers.get(name);
    const settings = number === undefined ? this.#kept.settingsOf(name) : this.#groups.at(number);
    return settings?.budget?.unit ?? null;
  }

  /** Milliseconds that who asks without naming a wait waits: those of a strict group, and 0 of others. */
  usualWaitMs(group: unknown, direction?: Origin['direction']): number {
    const hasNone = !this.hasStrict && this.#slotLanes.isEmpty && !this.#kept.hasAny;
    if (hasNone || typeof group !== 'string') return 0;
    const known = this.#groups.numbers.get(group) ?? (this.#kept.has(group) ? this.#names.indexOf(group) : undefined);
    const ofSlots = known === undefined ? null : this.slots.usualWaitMs(known);
    if (ofSlots !== null) return ofSlots;
    if (known === undefined) return 0;
    const lane = laneOf(known, directionOf(direction && { direction }));
    return this.strict.usualWaitMs(lane) + this.budgets.usualWaitMs(lane);
  }

  /** Returns the key of this work while no group stands for it; null = other work. */
  silentKeyOf(where: Where): string | null {
    return this.#unpublished?.silentKeyOf(where) ?? null;
  }

  #tellLimit(where: Where, limit: unknown): void {
    const name = typeof where === 'string' ? where : null;
    if (name === null) {
      throw new QuotameshError('FIELD_INVALID', { field: 'limit', reason: 'must stand beside the name of a key' });
    }
    if (this.#keys === null || this.#groups.numbers.has(name) || !this.#keys.isKey(name)) {
      throw new QuotameshError('LIMIT_DENIED', { key: name.slice(0, 200), reason: 'no template makes it' });
    }
    this.#keys.tellLimit(name, limit, this.#clock());
  }

  /** Tests if an acquire would be granted now; takes and counts nothing. */
  containsTokens(where: Where, amounts: RequestAmounts, origin?: Origin): boolean {
    const unpublished = this.#unpublished?.contains(where, amounts, origin) ?? null;
    if (unpublished !== null) return unpublished;
    const request = this.#reader.requestOf(where, amounts, origin);
    if (request === null) return true;
    if (this.budgets.keeps(request) && !this.budgets.contains(request, amounts)) return false;
    if (this.strict.keeps(request)) return this.strict.containsTokens(request);
    this.#decider.serve(request);
    return this.joint.containsTokens(request, this.#clock());
  }

  /** Charges work that is done whatever it costs; its debt is at most `debtMs` of every limit. */
  consume(where: Where, amounts: Amounts, origin?: Origin): void {
    rejectUnlessSomething(amounts);
    rejectAboveConsume(amounts);
    if (this.#unpublished?.consume(where, amounts, origin, false) === true) return;
    this.#charge(this.#reader.fillFor(where, amounts.messages ?? 0, amounts.bytes ?? 0, origin), amounts, origin);
  }

  passBy(where: Where, amounts: Amounts, origin?: Origin & Limiting): Decision {
    if (origin?.limit !== undefined) this.#tellLimit(where, origin.limit);
    if (this.#unpublished?.consume(where, amounts, origin, true) === true) return GRANTED_DECISION;
    this.#charge(this.#reader.requestOf(where, amounts, origin), amounts, origin);
    return GRANTED_DECISION;
  }

  #charge(request: JointRequest | null, amounts: Amounts, origin: Origin | undefined): void {
    if (request === null) {
      this.#passExempt(amounts, origin);
      return;
    }
    this.#refuseKept(request, 'charge work that is not asked for (consume, priority: immediate)');
    this.#decider.serve(request);
    const nowMs = this.#clock();
    this.joint.consume(request, nowMs);
    this.shadows.consume(request, nowMs);
  }

  /** Takes the amounts for work whose cost is known later. */
  reserve(where: Where, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady {
    if (options?.limit !== undefined) this.#tellLimit(where, options.limit);
    const unpublished = this.#unpublished?.hold(where, amounts, options) ?? null;
    if (unpublished !== null)
      return 'granted' in unpublished
        ? unpublished
        : unpublishedReservation(this.#ofKeys as KeyReservationParts, unpublished);
    const asked = this.#reader.requestOf(where, amounts, options);
    if (asked === null) {
      this.#passExempt(amounts, options);
      return exemptReservation();
    }
    this.#refuseKept(asked, 'reserve tokens');
    const request = retried(asked, options);
    const answer = this.#decider.reserve(request);
    return answer === GRANTED ? reservationOf(this.#reservations, request) : this.#explainer.explain(request, answer);
  }

  #refuseKept(request: JointRequest, what: string): void {
    this.strict.refuse(request, what);
    this.budgets.refuse(request, what);
  }

  /** True = the lane needs no share (lane-bounds.ts). */
  isFree(lane: number): boolean {
    return this.#bounds.isFree[lane] === true;
  }

  /** Opens a disabled group, which waits for no readiness. */
  #openDisabled(group: number): void {
    for (const lane of lanesOf(group)) {
      this.#limiter.close(lane);
      if (!this.#groups.at(group).enabled) this.#limiter.open(lane, this.#clock());
    }
  }

  close(): void {
    this.waiting.close();
    this.batches.close();
  }

  /** Keeps sums exact, once a round. */
  keep(nowMs: number): void {
    this.levels.keep(nowMs);
    this.#limiter.topics.keep(nowMs);
    this.#keys?.keep(nowMs);
    this.batches.expire(nowMs);
    this.#tellLetOff();
    const { laneCount } = this.#limiter;
    for (let looked = 0; looked < Math.min(KEPT_LANES, laneCount); looked++) {
      this.#limiter.keepExact(this.#keptLane);
      this.#keptLane = (this.#keptLane + 1) % laneCount;
    }
  }

  #tellLetOff(): void {
    const { firstLetOff } = this.#limiter.buckets;
    for (const slot of firstLetOff.splice(0)) {
      const lane = Math.floor(slot / DIMENSION_COUNT);
      this.onLetOff(this.#groups.ofLane(lane).name, DIRECTIONS[lane % DIRECTION_COUNT]);
    }
  }

  explain(request: JointRequest, answer: number): Refused | NotReady {
    return this.#explainer.explain(request, answer);
  }

  /** Takes units of a budget and its rate while work runs. Waits for the log. */
  async hold(where: string, units: number, waitMs: number): Promise<HeldUnits | Refused | NotReady> {
    const amounts = amountsIn(this.budgetUnitOf(where), units);
    const asked = retried(this.#reader.requestOf(where, amounts, undefined) as JointRequest, NO_OPTIONS);
    this.strict.refuse(asked, 'hold tokens');
    const held = new HeldUnits(this.budgetUnitOf(where));
    const decide = async () => {
      const answer = this.#decider.reserve(asked);
      if (answer !== GRANTED) return this.#explainer.explain(asked, answer);
      held.rate = reservationOf(this.#reservations, asked);
      return this.#teller.grant(asked.lane);
    };
    const decision = await this.budgets.acquire(asked, amounts, { waitMs, hold: held.hold }, decide);
    return decision.granted ? held : decision;
  }

  /** Charges units that are spent to a budget and its rate. */
  async charge(where: string, units: number): Promise<SpendEnd | NotReady> {
    const amounts = amountsIn(this.budgetUnitOf(where), units);
    const { messages = 0, bytes = 0 } = amounts;
    const asked = { ...(this.#reader.fillFor(where, messages, bytes) as JointRequest) };
    this.strict.refuse(asked, 'charge work that is done');
    this.#decider.serve(asked);
    this.joint.consume(asked, this.#clock());
    return this.budgets.spend(asked, amounts);
  }

  /** Returns milliseconds until every level has 1 % of its burst again: at least a unit, at most a minute. */
  throttleDurationMs(where: Where, origin?: Origin): number {
    if (this.#unpublished?.isOpen(where, origin) === true) return 0;
    const request = this.#reader.fillFor(where, 0, 0, origin);
    if (request === null) return 0;
    if (this.strict.keeps(request)) return this.strict.throttleMs(request.lane);
    this.#decider.serve(request);
    return Math.min(THROTTLE_MS_MAX, Math.ceil(this.joint.throttleMs(request, this.#clock())));
  }

  /** Decides as `tryAcquire`, but waits its turn for up to `waitMs`. */
  async acquire(where: Where, amounts: RequestAmounts, options: WaitOptions): Promise<Decision> {
    rejectUnlessOptions(options);
    rejectUnlessWaiting(options);
    if (options.limit !== undefined) this.#tellLimit(where, options.limit);
    const unpublished = this.#grantUnpublished(where, amounts, options);
    if (unpublished !== null) return unpublished;
    const request = this.#reader.requestOf(where, amounts, options);
    if (request === null) return this.#passExempt(amounts, options);
    return this.#acquireKept(request, amounts, options);
  }

  #acquireKept(request: JointRequest, amounts: RequestAmounts, options: WaitOptions): Promise<Decision> {
    if (!this.budgets.keeps(request)) return this.#acquireRate(request, options);
    const asked = retried(request, options);
    return this.budgets.acquire(asked, amounts, options, (waitMs) => this.#acquireRate(asked, { ...options, waitMs }));
  }

  #acquireRate(request: JointRequest, options: WaitOptions): Promise<Decision> {
    if (this.strict.keeps(request)) return this.strict.acquire({ ...request }, options);
    return this.waiting.acquire(retried(request, options), options);
  }

  /** Grants at once from a silent key; who waits waits in a group's lines. */
  #grantUnpublished(where: Where, amounts: Amounts, { direction }: WaitOptions): Granted | null {
    const decision = this.#unpublished?.tryAcquire(where, amounts, { ...(direction && { direction }), tell: true });
    return decision?.granted === true ? decision : null;
  }

  /** Returns the number of a group, or of the default group. Throws GROUP_UNKNOWN naming similar ones. */
  groupIndex(group: string): number {
    return this.#names.indexOf(group);
  }

  /** Returns a group's number for showing; makes no group of a key. Throws KEY_SILENT. */
  groupToShow(group: string): number {
    return this.#groupOr(group, (keys) => keys.numberShown(group));
  }

  /** Returns a group's number for explaining: of a key, if it is loud here. Throws KEY_SILENT. */
  groupToExplain(group: string): number {
    return this.#groupOr(group, (keys) => keys.seen(group)?.group ?? null);
  }

  #groupOr(group: string, numberOf: (keys: KeyBook) => number | null): number {
    if (this.#keys === null || this.#groups.numbers.has(group) || !this.#keys.isKey(group))
      return this.groupIndex(group);
    const number = numberOf(this.#keys);
    if (number === null) throw new QuotameshError('KEY_SILENT', { key: group });
    return number;
  }

  unknownGroup(group: string): never {
    return this.#names.unknown(group);
  }

  /** Rejects all requests waiting in this lane. */
  rejectWaiting(lane: number, reason: () => Error): void {
    this.#strictLanes.end(lane);
    this.#slotLanes.end(Math.floor(lane / DIRECTION_COUNT));
    this.#budgetLanes.end(Math.floor(lane / DIRECTION_COUNT));
    this.waiting.rejectAll(lane, reason);
  }

  #tryScope(scope: Scope, amounts: RequestAmounts, options: AcquireOptions): Decision {
    const request = this.#reader.requestOf(scope, amounts, options);
    if (request === null) return this.#passExempt(amounts, options);
    return this.#tryKept(request, amounts, options);
  }

  /** Decides by the budget, if there is one, and by the rate. */
  #tryKept(request: JointRequest, amounts: RequestAmounts, options: AcquireOptions): Decision {
    const decide = () => {
      return this.strict.keeps(request) ? this.strict.tryAcquire(request, options) : this.#tryAll(request, options);
    };
    return this.budgets.keeps(request) ? this.budgets.tryAcquire({ ...request }, amounts, options, decide) : decide();
  }

  #passExempt(amounts: Amounts, origin: Origin | undefined): Decision {
    this.scopes.countExempt(directionOf(origin), amounts);
    return GRANTED_DECISION;
  }

  /** Decides by all levels, unless others wait; with `atMost`, a part is enough. */
  #tryAll(request: JointRequest, options: AcquireOptions): Decision {
    setRetry(request, options);
    if (options.atMost === true) return this.#decider.tryPart(request);
    const answer = this.#decider.decideInPassing(request);
    if (answer !== GRANTED) return this.#explainer.explain(request, answer);
    if (options.tell === true) return this.#teller.grant(request.lane, request.shadow);
    return request.shadow === 'refused' ? SHADOW_REFUSED_DECISION : GRANTED_DECISION;
  }

  /** Handles the rarer cases, apart to keep the common path small. */
  #tryOtherwise(
    lane: number,
    amounts: RequestAmounts,
    isPlain: boolean,
    options: AcquireOptions,
    nowMs: number | undefined,
  ): Decision {
    const { messages = 0, bytes = 0 } = amounts;
    if ((this.levels.beside[lane] & HAS_SLOTS) !== 0) this.slots.refuse([lane]);
    if ((this.levels.beside[lane] & HAS_BUDGET) !== 0) {
      return this.budgets.tryAcquire({ lane, messages, bytes }, amounts, options, (part) =>
        this.#tryRate(part, options),
      );
    }
    if ((this.levels.beside[lane] & IS_STRICT) !== 0) return this.strict.tryAcquire({ lane, messages, bytes }, options);
    if (isPlain && this.#limiter.heldBack[lane] === 0 && this.levels.beside[lane] === IS_SHADOW) {
      const retry = options.retry === true;
      const shadow = this.shadows.askGroup(lane, messages, bytes, retry, nowMs ?? this.#clock());
      return shadow === null ? GRANTED_DECISION : SHADOW_REFUSED_DECISION;
    }
    return this.#tryAll(this.#reader.fillOn(lane, messages, bytes, options), options);
  }

  #tryRate({ lane, messages, bytes }: Pick<JointRequest, 'lane' | 'messages' | 'bytes'>, options: AcquireOptions) {
    if ((this.levels.beside[lane] & IS_STRICT) !== 0) return this.strict.tryAcquire({ lane, messages, bytes }, options);
    return this.#tryAll(this.#reader.fillOn(lane, messages, bytes, options), options);
  }

  #notAtOnce(lane: number, messages: number, bytes: number, retry: boolean, first: number): Decision {
    let answer = first;
    if (answer === UNCONFIRMED && this.#loop.isReady) {
      this.#loop.serve(lane);
      answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, this.#clock());
    }
    const isAsked = this.levels.beside[lane] === HAS_SHADOW && !retry && answer !== UNCONFIRMED;
    const shadow = isAsked ? this.shadows.askPlanned(lane, messages, bytes, answer, this.#clock()) : null;
    if (answer === GRANTED) return shadow === null ? GRANTED_DECISION : SHADOW_REFUSED_DECISION;
    const request = this.#reader.fillOn(lane, messages, bytes, NO_OPTIONS);
    request.shadow = shadow;
    return this.#explainer.explain(request, answer);
  }

  groupOf(lane: number): GroupConfig {
    return this.#groups.ofLane(lane);
  }
}

/** Milliseconds of the longest pause; more keeps a caller from seeing that quotas have changed. */
const THROTTLE_MS_MAX = 60_000;
/** Lanes whose sums are checked per round: with 5,000 groups, each every 8 s. */
const KEPT_LANES = 64;
const NO_OPTIONS: AcquireOptions = Object.freeze({});
const NO_AMOUNTS: Amounts = Object.freeze({});

function nameOf(where: Where): string {
  return typeof where === 'string' ? where : '';
}
