import { BYTES, DIMENSION_COUNT, DIRECTION_COUNT, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import type { Hold } from '../../../core/limiter/held-tokens.js';
import type { JointRequest, ShadowAnswer, ShadowHold } from '../../../core/limiter/joint-levels.js';
import { HAS_SHADOW, IS_SHADOW, type Levels, OTHER_LEVELS, refusedBy } from '../../../core/limiter/levels.js';
import { ABOVE_WINDOW, GRANTED, type Limiter, REFUSED, UNCONFIRMED } from '../../../core/limiter/limiter.js';
import type { Figure } from '../../../core/limiter/refused-work.js';
import type { TokenRequest } from '../../../core/limiter/token-request.js';
import type { ServingLoop } from '../../../core/machine/coordinator-view.js';
import type { GroupTable } from '../../groups/group-table.js';
import { RefusalLedger } from '../decide/refusal-ledger.js';
import type { LaneBounds } from '../request/lane-bounds.js';
import { partThere, wholePart } from '../request/partial-grant.js';
import { counted, type WorkCounts } from '../request/scope-resolver.js';

interface ShadowBookParts {
  readonly limiter: Limiter;
  readonly levels: Levels;
  readonly groups: GroupTable;
  readonly bounds: LaneBounds;
  readonly loop: ServingLoop;
}

/**
 * Asks shadows, counts their answers, and refuses nothing. A shadow is one of two:
 *
 * - a group with `mode: shadow`, in its own lanes: it decides about work that nothing in force refused.
 * - the plan of a group (`shadow:`), in lanes beside it: it decides about work that its group granted or refused, not
 *   about other limits' refusals.
 *
 * It decides each piece once, at its first attempt, and is charged what it granted, to be as full as if it were
 * enforced (docs/decisions/0111-shadow.md).
 */
export class ShadowBook {
  readonly counts = new ShadowCounts();
  readonly inForce: CountsInForce;
  readonly refusals: RefusalLedger;
  readonly #parts: ShadowBookParts;
  readonly #limiter: Limiter;
  readonly #bounds: LaneBounds;
  /** Lane → lane of its plan; −1 = none. */
  #planned = new Int32Array(0);
  /** Time for plans, late by less than LATE_MS. */
  #plansMs = -Infinity;
  #isAny = false;

  constructor(parts: ShadowBookParts) {
    this.#parts = parts;
    this.#limiter = parts.limiter;
    this.#bounds = parts.bounds;
    this.refusals = new RefusalLedger(parts.loop);
    this.inForce = new CountsInForce(parts.limiter, this.counts);
    for (let group = 0; group < parts.groups.size; group++) this.read(group);
  }

  read(group: number): void {
    const { limiter, levels, groups } = this.#parts;
    if (this.#planned.length < limiter.laneCount) {
      const before = this.#planned;
      this.#planned = new Int32Array(limiter.laneCount).fill(-1);
      this.#planned.set(before);
    }
    const shadow = groups.shadowOf(group);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const lane = laneOf(group, direction);
      this.#planned[lane] = shadow === null ? -1 : laneOf(shadow, direction);
      if ((levels.beside[lane] & (IS_SHADOW | HAS_SHADOW)) !== 0) this.#isAny = true;
    }
  }

  /** Forgets a lane, whose number becomes another name's. */
  forget(lane: number): void {
    this.counts.forget(lane);
    this.refusals.forget(lane);
  }

  /** Returns the lane of a lane's shadow; null = none. */
  shadowLaneOf(lane: number): number | null {
    if ((this.#parts.levels.beside[lane] & IS_SHADOW) !== 0) return lane;
    const planned = this.#planned[lane] ?? -1;
    return planned === -1 ? null : planned;
  }

  /**
   * Decides for a lane's plan about work that was granted or refused. This is the hot path: two grants cost one more
   * decision of the limiter, without an object. Its tokens are late by less than a millisecond, never too many: one
   * fill for many decisions saves a quarter of each. @param answer of the lane
   */
  askPlanned(lane: number, messages: number, bytes: number, answer: number, nowMs: number): ShadowAnswer | null {
    const planned = this.#planned[lane];
    const lateMs = nowMs - this.#plansMs;
    if (lateMs >= LATE_MS || lateMs < 0) this.#plansMs = nowMs;
    const said =
      messages > this.#bounds.enforcedMessages[planned] || bytes > this.#bounds.enforcedBytes[planned]
        ? this.#refuseAboveMost(planned, messages, bytes, false)
        : this.#limiter.tryAcquire(planned, messages, bytes, false, this.#plansMs);
    if (said === GRANTED && answer === GRANTED) return null;
    return this.#compare(planned, messages, bytes, { said, answer, nowMs });
  }

  /** Grants what a group with `mode: shadow` decides alone; null = as the group. */
  askGroup(lane: number, messages: number, bytes: number, retry: boolean, nowMs: number): ShadowAnswer | null {
    const isAbove = messages > this.#bounds.enforcedMessages[lane] || bytes > this.#bounds.enforcedBytes[lane];
    let said = isAbove
      ? this.#refuseAboveMost(lane, messages, bytes, retry)
      : this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    if (said === UNCONFIRMED && this.#parts.loop.isReady) {
      this.#parts.loop.serve(lane);
      said = this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    }
    if (said === GRANTED) return null;
    return this.#letPass({ lane, messages, bytes, retry }, { said, isCounted: true, isDone: true, nowMs });
  }

  /** Asks the shadows of a request's groups once; notes where they differ. */
  ask(request: JointRequest, answer: number, nowMs: number): void {
    if (!this.#isAny) return;
    if ((request.whole ?? null) !== null) {
      // A divisible request would also take a part of the shadow's tokens.
      for (const held of this.#askToHold(request, answer, nowMs)) held.settle(request, request, nowMs);
      return;
    }
    this.#each(request, answer, {
      group: (lane, retry) => this.#askLevels({ ...request, lane, retry, isFurther: true }, nowMs),
      planned: (lane) => this.askPlanned(lane, request.messages, request.bytes, answer, nowMs),
    });
  }

  /** Asks them about work that is settled later; their grants are held as long. */
  reserve(request: JointRequest, answer: number, nowMs: number): void {
    if (!this.#isAny) return;
    const held = this.#askToHold(request, answer, nowMs);
    // Undone work is settled by nobody: the shadow granted it and is charged.
    if (answer === GRANTED) request.shadowHolds = held;
    else for (const one of held) one.settle(request, request, nowMs);
  }

  #askToHold(request: JointRequest, answer: number, nowMs: number): readonly HeldByShadow[] {
    const all: HeldByShadow[] = [];
    const hold = (lane: number, retry: boolean, { messages, bytes }: Amounts, isGroup: boolean) => {
      const { topic, client } = request;
      const asked = { lane, messages, bytes, topic, client, retry, isFurther: true };
      const offered = this.#hold(asked, { isPartial: (request.whole ?? null) !== null, isGroup, nowMs });
      all.push(offered.held);
      return offered;
    };
    this.#each(request, answer, {
      group: (lane, retry) => {
        const { said, isCounted, held } = hold(lane, retry, request, true);
        const left = { lane, retry, ...lessOf(request, held.granted) };
        return this.#letPass(left, { said, isCounted, isDone: false, nowMs });
      },
      planned: (lane) => {
        const { said, held } = hold(this.#planned[lane], false, this.#offeredTo(lane, request), false);
        return this.#compareHeld(request, answer, { said, held, nowMs });
      },
    });
    return all;
  }

  /** Returns whole amounts where the group alone cut them; else the part. Its plan might have had more. */
  #offeredTo(lane: number, request: JointRequest): Amounts {
    const isAlone = request.further.length === 0 && (this.#parts.levels.beside[lane] & OTHER_LEVELS) === 0;
    return isAlone ? (request.whole ?? request) : request;
  }

  /** Charges the plans of unconditional work; other shadows are the groups themselves. */
  consume(request: JointRequest, nowMs: number): void {
    if (!this.#isAny) return;
    const { levels, groups, loop } = this.#parts;
    for (const lane of [request.lane, ...request.further]) {
      const planned = this.#planned[lane] ?? -1;
      if (planned === -1) continue;
      loop.serve(planned);
      levels.consume({ ...request, lane: planned, isFurther: true }, groups.ofLane(planned).debtMs, nowMs);
    }
  }

  /**
   * Charges pieces of one message admitted elsewhere (src/node/enforcers); returns true if the lane's own group is a
   * shadow, and so charged.
   */
  admittedElsewhere(lane: number, messages: number, bytes: number, nowMs: number): boolean {
    const bits = this.#parts.levels.beside[lane];
    if ((bits & IS_SHADOW) !== 0) this.#grantPieces(lane, messages, bytes, nowMs);
    else if ((bits & HAS_SHADOW) !== 0) this.#grantPieces(this.#planned[lane], messages, bytes, nowMs);
    return (bits & IS_SHADOW) !== 0;
  }

  #grantPieces(lane: number, messages: number, bytes: number, nowMs: number): void {
    const limiter = this.#limiter;
    this.#parts.loop.serve(lane);
    const isKnown = nowMs <= limiter.validUntilMs.at(lane);
    const there = (dimension: number) => (isKnown ? limiter.available(lane, dimension, nowMs) + SLACK : 0);
    const part = wholePart({ lane, messages, bytes, ...NAMELESS }, there(MESSAGES), there(BYTES));
    if (part.messages > 0 || part.bytes > 0) limiter.consumePieces(lane, part.messages, part.bytes, 0, nowMs);
    const left = lessOf({ messages, bytes }, part);
    if (left.messages === 0 && left.bytes === 0) return;
    const isGroup = (this.#parts.levels.beside[lane] & IS_SHADOW) !== 0;
    if (isGroup) this.counts.count(lane, 'letPass', left.messages, left.bytes);
    if (!isKnown) {
      if (isGroup) this.counts.count(lane, 'uncounted', left.messages, left.bytes);
      return;
    }
    limiter.countRefusedPieces(lane, left.messages, left.bytes);
    this.counts.count(lane, 'wouldRefuse', left.messages, left.bytes, Math.max(1, left.messages));
    if (isGroup) this.counts.count(lane, 'notRefused', left.messages, left.bytes);
    this.refusals.count(lane, 'group', limiter.buckets.scarcest(lane, messages, bytes), nowMs);
  }

  #each(request: JointRequest, answer: number, asking: Asking): void {
    const { beside } = this.#parts.levels;
    for (const [at, lane] of [request.lane, ...request.further].entries()) {
      const bits = beside[lane];
      let said: ShadowAnswer | null = null;
      if ((bits & IS_SHADOW) !== 0) {
        if (answer === GRANTED) said = asking.group(lane, (request.counted & (1 << at)) !== 0);
      } else if ((bits & HAS_SHADOW) !== 0 && concerns(request, answer, lane)) {
        const asked = request.plansAsked ?? 0;
        request.plansAsked = asked | (1 << at);
        if ((asked & (1 << at)) === 0) said = asking.planned(lane);
      }
      // Among several shadows, a refusal says more.
      if (said !== null && request.shadow !== 'refused') request.shadow = said;
    }
  }

  #askLevels(one: TokenRequest, nowMs: number): ShadowAnswer | null {
    const { lane, messages, bytes, retry } = one;
    const { levels, loop } = this.#parts;
    if ((levels.beside[lane] & OTHER_LEVELS) === 0) return this.askGroup(lane, messages, bytes, retry, nowMs);
    const before = this.#limiter.refusals.at(lane);
    const isAbove = this.#isAboveMost(one);
    let said = isAbove ? this.#refuseAboveMost(lane, messages, bytes, retry) : levels.tryAcquire(one, nowMs);
    if (said === UNCONFIRMED && loop.isReady) {
      loop.serve(lane);
      said = levels.tryAcquire(one, nowMs);
    }
    return this.#letPass(one, { said, isCounted: this.#limiter.refusals.at(lane) > before, isDone: true, nowMs });
  }

  /** Holds tokens; with `isPartial` the shadow may have less, as in `cutToPart`. */
  #hold(whole: TokenRequest, { isPartial, isGroup, nowMs }: Holding): Offered {
    const { levels, loop, groups } = this.#parts;
    const limiter = this.#limiter;
    const { lane, messages, bytes, retry } = whole;
    loop.serve(lane);
    const parts = { levels, debtMs: groups.ofLane(lane).debtMs, counts: isGroup ? this.counts : null };
    const before = limiter.refusals.at(lane);
    const offered = (said: number, held: HeldByShadow): Offered => {
      return { said, isCounted: limiter.refusals.at(lane) > before, held };
    };
    if (this.#isAboveMost(whole)) {
      return offered(this.#refuseAboveMost(lane, messages, bytes, retry), new HeldByShadow(parts, whole, []));
    }
    const part = isPartial ? this.#partThere(whole, nowMs) : null;
    const one = part === null ? whole : { ...whole, messages: part.messages, bytes: part.bytes };
    const holds: Hold[] = [];
    const said = levels.reserve(one, nowMs, holds);
    const held = new HeldByShadow(parts, one, holds);
    const left = lessOf(whole, one);
    if (said !== GRANTED || left.messages + left.bytes === 0) return offered(said, held);
    // A batch's part counts as granted, the rest as refused.
    limiter.countRefused(lane, left.messages, left.bytes, retry);
    return offered(REFUSED + limiter.buckets.scarcest(lane, messages, bytes), held);
  }

  #partThere(whole: TokenRequest, nowMs: number): Amounts | null {
    const { levels } = this.#parts;
    return partThere(
      whole,
      (dimension) => levels.available(whole, dimension, nowMs),
      (least) => levels.containsTokens({ ...whole, ...least }, nowMs),
    );
  }

  #isAboveMost({ lane, messages, bytes }: TokenRequest): boolean {
    const { enforcedMessages, enforcedBytes } = this.#bounds;
    return messages > enforcedMessages[lane] || bytes > enforcedBytes[lane];
  }

  /** Counts a request above maxRequest as a refusal of the shadow. */
  #refuseAboveMost(lane: number, messages: number, bytes: number, retry: boolean): number {
    this.#limiter.countRefused(lane, messages, bytes, retry);
    return REFUSED + this.#limiter.buckets.scarcest(lane, messages, bytes);
  }

  #compare(planned: number, messages: number, bytes: number, { said, answer, nowMs }: Compared): ShadowAnswer | null {
    if (said === UNCONFIRMED) {
      const { loop, groups } = this.#parts;
      if (!loop.isReady) return null;
      loop.serve(planned);
      // A lane that is still unserved is left to the next request.
      const again = this.#limiter.tryAcquire(planned, messages, bytes, false, nowMs);
      if (again === UNCONFIRMED || !groups.isLive(Math.floor(planned / DIRECTION_COUNT))) return null;
      return this.#compare(planned, messages, bytes, { said: again, answer, nowMs });
    }
    if (said !== GRANTED) this.#countRefusal(planned, said, nowMs);
    if (said === GRANTED) {
      if (answer === GRANTED) return null;
      this.counts.count(planned, 'wouldGrant', messages, bytes);
      return 'granted';
    }
    if (answer !== GRANTED) return null;
    this.counts.count(planned, 'wouldRefuse', messages, bytes);
    return 'refused';
  }

  /** Compares: a part of a grant in force is less, of a refusal more. */
  #compareHeld(request: JointRequest, answer: number, { said, held, nowMs }: Held): ShadowAnswer | null {
    if (said === UNCONFIRMED) return null;
    const { granted } = held;
    const missing = lessOf(answer === GRANTED ? request : NOTHING, granted);
    const isLess = missing.messages + missing.bytes > 0;
    const isNothing = granted.messages + granted.bytes === 0;
    if (isLess || isNothing) this.#countRefusal(granted.lane, said, nowMs);
    if (isLess) this.counts.count(granted.lane, 'wouldRefuse', missing.messages, missing.bytes);
    if (isLess) return 'refused';
    if (answer === GRANTED || isNothing) return null;
    this.counts.count(granted.lane, 'wouldGrant', granted.messages, granted.bytes);
    return 'granted';
  }

  /** Counts work that a group with `mode: shadow` let pass. @param left what it has not granted */
  #letPass(left: Left, { said, isCounted, isDone, nowMs }: Passed): ShadowAnswer | null {
    if (said === GRANTED) return null;
    const { lane, messages, bytes, retry } = left;
    if (isDone) this.counts.count(lane, 'letPass', messages, bytes);
    const isUnknown = said === UNCONFIRMED;
    if (!retry) this.counts.count(lane, isCounted && !isUnknown ? 'notRefused' : 'uncounted', messages, bytes);
    if (isUnknown) return null;
    this.counts.count(lane, 'wouldRefuse', messages, bytes);
    this.#countRefusal(lane, said, nowMs);
    return 'refused';
  }

  #countRefusal(lane: number, said: number, nowMs: number): void {
    if (said >= REFUSED) {
      const { level, dimension } = refusedBy(said);
      this.refusals.count(lane, level, dimension, nowMs);
      return;
    }
    this.refusals.count(lane, said === ABOVE_WINDOW ? 'group' : 'topic', said === ABOVE_WINDOW ? 0 : -1, nowMs);
  }
}

interface Asking {
  /** Returns the group's answer. @param retry the group has counted this work before */
  group(lane: number, retry: boolean): ShadowAnswer | null;
  planned(lane: number): ShadowAnswer | null;
}

type Amounts = Readonly<Pick<TokenRequest, 'messages' | 'bytes'>>;
type Left = Pick<TokenRequest, 'lane' | 'messages' | 'bytes' | 'retry'>;

interface Holding {
  readonly isPartial: boolean;
  readonly isGroup: boolean;
  readonly nowMs: number;
}

interface Offered {
  readonly said: number;
  /** True = the limiter has counted the rest as refused. */
  readonly isCounted: boolean;
  readonly held: HeldByShadow;
}

type Held = Pick<Offered, 'said' | 'held'> & { readonly nowMs: number };

type Passed = Pick<Offered, 'said' | 'isCounted'> & {
  /** False = the work is settled later, and counted then. */
  readonly isDone: boolean;
  readonly nowMs: number;
};

interface Compared {
  readonly said: number;
  readonly answer: number;
  readonly nowMs: number;
}

/** Tests if a lane's plan would have been asked like its group. */
function concerns({ refusedLane }: JointRequest, answer: number, lane: number): boolean {
  if (answer === GRANTED) return true;
  if (refusedLane !== lane) return false;
  return answer === ABOVE_WINDOW || (answer >= REFUSED && refusedBy(answer).level === 'group');
}

function lessOf(all: Amounts, granted: Amounts): Amounts {
  return {
    messages: Math.max(0, all.messages - granted.messages),
    bytes: Math.max(0, all.bytes - granted.bytes),
  };
}

const LATE_MS = 1;
const NOTHING: Amounts = Object.freeze({ messages: 0, bytes: 0 });
const NAMELESS = Object.freeze({ retry: false, topic: '', client: '' });
const SLACK = 1e-6;

/**
 * Counts callers' grants and refusals, per slot or lane, since creation. Where a group refuses nothing, the limiter
 * counts its shadow's decisions; this corrects them.
 */
class CountsInForce {
  readonly admitted: Figure = {
    at: (slot) => this.#limiter.admitted.at(slot) + amountAt(slot, this.#of(slot).letPass),
  };
  readonly attempted: Figure = {
    at: (slot) => this.#limiter.attempted.at(slot) + amountAt(slot, this.#of(slot).uncounted),
  };
  readonly refused: Figure = {
    at: (slot) => leastZero(this.#limiter.refused.at(slot) - amountAt(slot, this.#of(slot).notRefused)),
  };
  /** Refused work per lane, each once. */
  readonly refusedOnce: Figure = {
    at: (lane) => this.#limiter.refusedOnce.at(lane) - this.#counts.of(lane).notRefused.requests,
  };
  readonly #limiter: Limiter;
  readonly #counts: ShadowCounts;

  constructor(limiter: Limiter, counts: ShadowCounts) {
    this.#limiter = limiter;
    this.#counts = counts;
  }

  #of(slot: number) {
    return this.#counts.of(Math.floor(slot / DIMENSION_COUNT));
  }
}

function amountAt(slot: number, { messages, bytes }: Readonly<WorkCounts>): number {
  return slot % DIMENSION_COUNT === MESSAGES ? messages : bytes;
}

function leastZero(amount: number): number {
  return Math.max(0, amount);
}

interface HeldParts {
  readonly levels: Levels;
  readonly debtMs: number;
  /** Counts where the group itself is the shadow: all work is done. Null = planned. */
  readonly counts: ShadowCounts | null;
}

/** Holds a shadow's grant of work that is settled later: all, a part, or nothing. */
class HeldByShadow implements ShadowHold {
  /** Request whose amounts the shadow has granted. */
  readonly granted: TokenRequest;
  readonly #parts: HeldParts;
  readonly #holds: readonly Hold[];

  /** @param holds empty = it has granted nothing */
  constructor(parts: HeldParts, granted: TokenRequest, holds: readonly Hold[]) {
    this.#parts = parts;
    this.#holds = holds;
    this.granted = holds.length > 0 ? granted : { ...granted, messages: 0, bytes: 0 };
  }

  /** Settles; a part is charged no more than itself. */
  settle(inForce: Amounts, used: Amounts, nowMs: number): void {
    const { levels, debtMs, counts } = this.#parts;
    const messages = this.#usedOf(used.messages, inForce.messages, this.granted.messages);
    const bytes = this.#usedOf(used.bytes, inForce.bytes, this.granted.bytes);
    const unusedMessages = Math.max(0, this.granted.messages - messages);
    const unusedBytes = Math.max(0, this.granted.bytes - bytes);
    for (const hold of this.#holds) hold.end(unusedMessages, unusedBytes, nowMs);
    if (this.#holds.length > 0) levels.settle(this.granted, messages, bytes, debtMs, nowMs);
    counts?.count(this.granted.lane, 'letPass', used.messages - messages, used.bytes - bytes);
  }

  #usedOf(used: number, inForce: number, granted: number): number {
    if (this.#holds.length === 0) return 0;
    return used >= inForce ? granted + used - inForce : Math.min(used, granted);
  }
}

/** Work of a lane on which its shadow and limits disagree. */
interface CountedDifferences {
  /** Granted, but refused by the shadow. */
  readonly wouldRefuse: Readonly<WorkCounts>;
  /** Refused at once, but granted by the shadow. */
  readonly wouldGrant: Readonly<WorkCounts>;
  /** Counted as refused by the limiter of a group with `mode: shadow`, and refused to nobody. */
  readonly notRefused: Readonly<WorkCounts>;
  /** Passed, and not counted as attempted: refused by a topic's or client's limit, or before a share was known. */
  readonly uncounted: Readonly<WorkCounts>;
  /** Done, and not counted as admitted by the limiter. */
  readonly letPass: Readonly<WorkCounts>;
}

/** Counts differences, of lanes that have any. */
class ShadowCounts {
  readonly #lanes = new Map<number, Record<keyof CountedDifferences, WorkCounts>>();

  /** Counts work. @param requests where it is many pieces at once */
  count(lane: number, difference: keyof CountedDifferences, messages: number, bytes: number, requests = 1): void {
    let counts = this.#lanes.get(lane);
    if (counts === undefined) {
      counts = {
        wouldRefuse: { ...NONE },
        wouldGrant: { ...NONE },
        notRefused: { ...NONE },
        uncounted: { ...NONE },
        letPass: { ...NONE },
      };
      this.#lanes.set(lane, counts);
    }
    const work = counts[difference];
    work.requests += requests;
    work.messages = counted(work.messages, messages);
    work.bytes = counted(work.bytes, bytes);
  }

  of(lane: number): CountedDifferences {
    return this.#lanes.get(lane) ?? NO_DIFFERENCES;
  }

  forget(lane: number): void {
    this.#lanes.delete(lane);
  }
}

const NONE: Readonly<WorkCounts> = Object.freeze({ requests: 0, messages: 0, bytes: 0 });
const NO_DIFFERENCES: CountedDifferences = Object.freeze({
  wouldRefuse: NONE,
  wouldGrant: NONE,
  notRefused: NONE,
  uncounted: NONE,
  letPass: NONE,
});
