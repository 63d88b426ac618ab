import { DIRECTION_COUNT, laneOf } from '../../core/base/vocabulary.js';
import type { ServingLoop } from '../../core/coordinator/coordinator-view.js';
import type { Hold } from '../../core/limiter/held-tokens.js';
import type { JointRequest, ShadowAnswer, ShadowHold } from '../../core/limiter/joint-levels.js';
import { HAS_SHADOW, IS_SHADOW, type Levels, OTHER_LEVELS, refusedBy } from '../../core/limiter/levels.js';
import { ABOVE_WINDOW, GRANTED, type Limiter, REFUSED, UNCONFIRMED } from '../../core/limiter/limiter.js';
import type { TokenRequest } from '../../core/limiter/token-request.js';
import type { GroupTable } from '../../groups/group-table.js';
import { RefusalLedger } from '../decide/refusal-ledger.js';
import type { LaneBounds } from '../request/lane-bounds.js';
import { wholePart } from '../request/partial-grant.js';
import { CountsInForce } from './counts-in-force.js';
import { ShadowCounts } from './shadow-counts.js';

export interface ShadowBookParts {
  readonly limiter: Limiter;
  readonly levels: Levels;
  readonly groups: GroupTable;
  readonly bounds: LaneBounds;
  readonly loop: ServingLoop;
}

/**
 * Asks shadows what they would have said, counts it, and refuses nothing. A shadow is one of two:
 *
 * - a group with `mode: shadow`, in its own lanes. It is asked about work that nothing in force has refused.
 * - what is planned for a group (`shadow:`), in lanes of a group beside it. It takes the place of its group, so it is
 *   asked about work that its group has granted or refused, and not about what another limit has refused.
 *
 * Each piece of work is asked about once, at its first attempt: whether a client would have come again after a refusal
 * that it never saw, nobody knows. A shadow is charged what it has granted itself, so that it is as full as it would be
 * if it were enforced (docs/decisions/0111-shadow.md).
 */
export class ShadowBook {
  readonly counts = new ShadowCounts();
  /** What callers were granted and refused, where the limiter counts what shadows have decided. */
  readonly inForce: CountsInForce;
  /** Why shadows would have refused, by their lanes. */
  readonly refusals: RefusalLedger;
  readonly #parts: ShadowBookParts;
  readonly #limiter: Limiter;
  readonly #bounds: LaneBounds;
  /** Lane of a group → that of what is planned for it; −1 = nothing is. */
  #planned = new Int32Array(0);
  #isAny = false;

  constructor(parts: ShadowBookParts) {
    this.#parts = parts;
    this.#limiter = parts.limiter;
    this.#bounds = parts.bounds;
    this.refusals = new RefusalLedger(parts.loop);
    this.inForce = new CountsInForce(parts.limiter, this.counts);
    for (let group = 0; group < parts.groups.size; group++) this.read(group);
  }

  /** A group is new, or its definition has changed; the levels know of it. */
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
      if (((levels.beside[lane] as number) & (IS_SHADOW | HAS_SHADOW)) !== 0) this.#isAny = true;
    }
  }

  /** The number of a group stands for another name from now on. */
  forget(lane: number): void {
    this.counts.forget(lane);
    this.refusals.forget(lane);
  }

  /** The lane in which the shadow of a lane decides; null = it has none. */
  shadowLaneOf(lane: number): number | null {
    if (((this.#parts.levels.beside[lane] as number) & IS_SHADOW) !== 0) return lane;
    const planned = this.#planned[lane] ?? -1;
    return planned === -1 ? null : planned;
  }

  /**
   * Asks what is planned for a lane about work that the lane has granted or refused. The hot path of a planned quota:
   * where both say yes it costs one more decision of the limiter, and allocates nothing.
   *
   * @param answer of the lane
   */
  askPlanned(lane: number, messages: number, bytes: number, answer: number, nowMs: number): ShadowAnswer | null {
    const planned = this.#planned[lane] as number;
    const said =
      messages > (this.#bounds.enforcedMessages[planned] as number) ||
      bytes > (this.#bounds.enforcedBytes[planned] as number)
        ? this.#refuseAboveMost(planned, messages, bytes, false)
        : this.#limiter.tryAcquire(planned, messages, bytes, false, nowMs);
    if (said === GRANTED && answer === GRANTED) return null;
    return this.#compare(planned, messages, bytes, { said, answer, nowMs });
  }

  /** Grants what a group with `mode: shadow` decides alone. null = as the group has said, too. */
  askGroup(lane: number, messages: number, bytes: number, retry: boolean, nowMs: number): ShadowAnswer | null {
    const isAbove =
      messages > (this.#bounds.enforcedMessages[lane] as number) ||
      bytes > (this.#bounds.enforcedBytes[lane] as number);
    let said = isAbove
      ? this.#refuseAboveMost(lane, messages, bytes, retry)
      : this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    if (said === UNCONFIRMED && this.#parts.loop.isReady) {
      this.#parts.loop.serve(lane);
      said = this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    }
    if (said === GRANTED || said === UNCONFIRMED) return null;
    this.#letPass({ lane, messages, bytes, retry }, { said, isCounted: true, nowMs });
    return 'refused';
  }

  /** Asks the shadows of all groups of a request, once, and leaves in it what they say otherwise. */
  ask(request: JointRequest, answer: number, nowMs: number): void {
    if (!this.#isAny) return;
    if (request.isPartial === true) {
      // Who takes a part of what there is would take a part of what the shadow has.
      for (const hold of this.#askToHold(request, answer, nowMs)) this.#settleAtOnce(hold, nowMs);
      return;
    }
    this.#each(request, answer, {
      group: (lane) => this.#askLevels(request, lane, nowMs),
      planned: (lane) => this.askPlanned(lane, request.messages, request.bytes, answer, nowMs),
    });
  }

  /** The same for work that is settled later: what shadows grant is held in them as long. */
  reserve(request: JointRequest, answer: number, nowMs: number): void {
    if (!this.#isAny) return;
    const held = this.#askToHold(request, answer, nowMs);
    // What is not done is settled by nobody. The shadow has said yes, and is charged for it as for work that was done.
    if (answer === GRANTED) request.shadowHolds = held;
    else for (const hold of held) this.#settleAtOnce(hold, nowMs);
  }

  #askToHold(request: JointRequest, answer: number, nowMs: number): readonly ShadowHold[] {
    const held: ShadowHold[] = [];
    const hold = (lane: number) => {
      const { messages, bytes, topic, client, retry } = request;
      const one = { lane, messages, bytes, topic, client, retry, isFurther: true };
      const { said, hold } = this.#hold(one, answer === GRANTED && request.isPartial === true, nowMs);
      if (hold !== null) held.push(hold);
      return said;
    };
    this.#each(request, answer, {
      group: (lane) => {
        const before = this.#limiter.refusals.at(lane);
        const said = hold(lane);
        if (said === GRANTED || said === UNCONFIRMED) return null;
        const isCounted = this.#limiter.refusals.at(lane) > before;
        this.#letPass({ ...request, lane }, { said, isCounted, nowMs });
        return 'refused';
      },
      planned: (lane) => {
        const planned = this.#planned[lane] as number;
        return this.#compare(planned, request.messages, request.bytes, { said: hold(planned), answer, nowMs });
      },
    });
    return held;
  }

  /** Work was charged whatever there was: in what is planned for its groups, too. (Other shadows are its groups.) */
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

  #each(request: JointRequest, answer: number, asking: Asking): void {
    const { beside } = this.#parts.levels;
    const isFirst = request.isShadowed !== true;
    request.isShadowed = true;
    for (const lane of [request.lane, ...request.further]) {
      const bits = beside[lane] as number;
      let said: ShadowAnswer | null = null;
      if ((bits & IS_SHADOW) !== 0) {
        if (answer === GRANTED) said = asking.group(lane);
      } else if ((bits & HAS_SHADOW) !== 0 && isFirst && concerns(request, answer, lane)) {
        said = asking.planned(lane);
      }
      // Among several shadows, one that would have refused says more.
      if (said !== null && request.shadow !== 'refused') request.shadow = said;
    }
  }

  #askLevels(
    { messages, bytes, retry, topic, client }: JointRequest,
    lane: number,
    nowMs: number,
  ): ShadowAnswer | null {
    const { levels, loop } = this.#parts;
    if (((levels.beside[lane] as number) & OTHER_LEVELS) === 0)
      return this.askGroup(lane, messages, bytes, retry, nowMs);
    const one: TokenRequest = { lane, messages, bytes, retry, topic, client, isFurther: true };
    const before = this.#limiter.refusals.at(lane);
    const isAbove = this.#isAboveMost(one);
    let said = isAbove ? this.#refuseAboveMost(lane, messages, bytes, retry) : levels.tryAcquire(one, nowMs);
    if (said === UNCONFIRMED && loop.isReady) {
      loop.serve(lane);
      said = levels.tryAcquire(one, nowMs);
    }
    if (said === GRANTED || said === UNCONFIRMED) return null;
    this.#letPass(one, { said, isCounted: this.#limiter.refusals.at(lane) > before, nowMs });
    return 'refused';
  }

  /** @param isPartial the shadow may have less of it, as a batch would */
  #hold(whole: TokenRequest, isPartial: boolean, nowMs: number): { said: number; hold: ShadowHold | null } {
    const { levels, loop } = this.#parts;
    loop.serve(whole.lane);
    const { lane, messages, bytes, retry } = whole;
    if (this.#isAboveMost(whole)) return { said: this.#refuseAboveMost(lane, messages, bytes, retry), hold: null };
    const there = (dimension: number) => levels.available(whole, dimension, nowMs) + SLACK;
    const part = isPartial ? wholePart(whole, there(0), there(1)) : whole;
    const isSome = part.messages + part.bytes > 0;
    const one = isSome ? { ...whole, messages: part.messages, bytes: part.bytes } : whole;
    const holds: Hold[] = [];
    const said = levels.reserve(one, nowMs, holds);
    if (said !== GRANTED) return { said, hold: null };
    const [leftMessages, leftBytes] = [messages - one.messages, bytes - one.bytes];
    if (leftMessages + leftBytes === 0) return { said, hold: { request: one, holds } };
    // What a batch would have been given is counted as granted, the rest as refused.
    this.#limiter.countRefused(lane, leftMessages, leftBytes, retry);
    return { said: REFUSED + this.#limiter.buckets.scarcest(lane, messages, bytes), hold: { request: one, holds } };
  }

  #settleAtOnce({ request, holds }: ShadowHold, nowMs: number): void {
    const { levels, groups } = this.#parts;
    for (const hold of holds) hold.end(0, 0, nowMs);
    levels.settle(request, request.messages, request.bytes, groups.ofLane(request.lane).debtMs, nowMs);
  }

  #isAboveMost({ lane, messages, bytes }: TokenRequest): boolean {
    const { enforcedMessages, enforcedBytes } = this.#bounds;
    return messages > (enforcedMessages[lane] as number) || bytes > (enforcedBytes[lane] as number);
  }

  /** A request above maxRequest is no request for a group that is enforced; as a shadow's answer that is a refusal. */
  #refuseAboveMost(lane: number, messages: number, bytes: number, retry: boolean): number {
    this.#limiter.countRefused(lane, messages, bytes, retry);
    return REFUSED + this.#limiter.buckets.scarcest(lane, messages, bytes);
  }

  #compare(planned: number, messages: number, bytes: number, { said, answer, nowMs }: Compared): ShadowAnswer | null {
    if (said === UNCONFIRMED) {
      const { loop, groups } = this.#parts;
      if (!loop.isReady) return null;
      loop.serve(planned);
      // Where that has not served it, the next request does.
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

  /** Counts work that a group with `mode: shadow` has refused to nobody. */
  #letPass({ lane, messages, bytes, retry }: Offered, { said, isCounted, nowMs }: Passed): void {
    this.counts.count(lane, 'wouldRefuse', messages, bytes);
    // The limiter counts no amount of a further attempt.
    if (!retry) this.counts.count(lane, isCounted ? 'notRefused' : 'uncounted', messages, bytes);
    this.#countRefusal(lane, said, nowMs);
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
  group(lane: number): ShadowAnswer | null;
  planned(lane: number): ShadowAnswer | null;
}

type Offered = Pick<TokenRequest, 'lane' | 'messages' | 'bytes' | 'retry'>;

interface Passed {
  readonly said: number;
  /** The limiter has counted it as refused. */
  readonly isCounted: boolean;
  readonly nowMs: number;
}

interface Compared {
  readonly said: number;
  readonly answer: number;
  readonly nowMs: number;
}

/** Whether what is planned for a lane would have been asked in the place of its group. */
function concerns({ refusedLane }: JointRequest, answer: number, lane: number): boolean {
  if (answer === GRANTED) return true;
  if (refusedLane !== lane) return false;
  return answer === ABOVE_WINDOW || (answer >= REFUSED && refusedBy(answer).level === 'group');
}

/** A millionth of a unit is a rounding error, as in buckets.ts. */
const SLACK = 1e-6;
