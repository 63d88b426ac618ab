import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { HeldUnits } from '../../../node/admission/budget/held-units.js';
import type { Decision, KeyLimit, NotReady, Refused, Reservation } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { DescriptorRule } from '../rules/descriptor-rules.js';
import { type HeldHits, heldHits, notReadyError } from './held-hits.js';
import { NO_QUOTA, type QuotaSeen, quotaIn, quotaSeenAt } from './quota-seen.js';

/** One descriptor of a request, with what limits it. */
export interface Charge {
  /** Null = nothing limits it. */
  readonly rule: DescriptorRule | null;
  /** Group or key; '' = none. */
  readonly bucket: string;
  /** 0 = it is only looked at. */
  readonly hits: number;
  /** Limit that came with the request, where the template allows one. */
  readonly limit: KeyLimit | undefined;
  /** True = the work may be done: hits that are too many are a debt. */
  readonly mayOwe: boolean;
}

/** Says of a descriptor if it is over its limit. */
export interface Charged {
  readonly isOver: boolean;
  readonly quota: QuotaSeen;
  /** Milliseconds until it is worth another try; 0 = it is not over. */
  readonly retryAfterMs: number;
}

/**
 * Decides about all descriptors of a request. All that have to hold are charged, or none: work that is refused costs
 * nothing. *Why not as envoyproxy/ratelimit:* it counts refused requests in every other descriptor, too. Descriptors in
 * quota mode refuse together alone; of them those that have tokens are charged. What may owe is charged in any case
 * (docs/decisions/0182-charged-when-the-stream-is-over.md).
 */
export class RequestDecision {
  /** Limits of requests that the template does not allow. */
  limitsRefused = 0;
  readonly #node: NodeParts;

  constructor(node: NodeParts) {
    this.#node = node;
  }

  /** Decides a request of one limited descriptor. Throws NOT_READY, KEYS_FULL. */
  decideOne(charge: Charge): Charged {
    const { bucket, hits, limit } = charge;
    if (hits === 0) return this.#look(bucket);
    if (charge.mayOwe && !this.#hasRoom(charge)) return this.#owe(charge);
    try {
      const options = limit === undefined ? undefined : { limit };
      return this.#told(bucket, this.#node.gate.tryAcquire(bucket, { messages: hits }, options));
    } catch (error) {
      if (limit === undefined || !this.#isLimitRefused(error)) return this.#tooLarge(error, bucket);
      return this.decideOne({ ...charge, limit: undefined });
    }
  }

  /** Tests if the log has to be asked: for a budget, or for one strict group alone. */
  needsLog(charges: readonly Charge[]): boolean {
    const { gate } = this.#node;
    if (!gate.hasStrict && !gate.keepsKeys) return false;
    if (charges.some(({ rule, bucket }) => rule !== null && gate.budgetUnitOf(bucket) !== null)) return true;
    const [{ bucket, hits, mayOwe }] = charges as readonly [Charge];
    return charges.length === 1 && hits > 0 && !mayOwe && gate.usualWaitMs(bucket) > 0;
  }

  /** Decides as `decideAll`, and waits its turn. @param leftMs until the gateway goes on without an answer */
  async decideWaiting(charges: readonly Charge[], answers: Charged[], leftMs: number): Promise<boolean> {
    const held: Held[] = [];
    const untilMs = this.#node.clock() + WAITED_PART * leftMs;
    try {
      for (const charge of charges) {
        const waitMs = Math.max(0, untilMs - this.#node.clock());
        if (charge.rule === null) answers.push(NOT_LIMITED);
        else if (charges.length === 1) answers.push(await this.#decideLater(charge, waitMs));
        else this.#keep(await this.#holdLater(charge, waitMs), charge, held, answers);
      }
    } catch (error) {
      for (const { hold } of held) hold.cancel();
      throw error;
    }
    return this.#end(charges, held, answers);
  }

  /** Decides a request of several; `answers` become those of the charges. Returns whether the request is over. */
  decideAll(charges: readonly Charge[], answers: Charged[]): boolean {
    const held: Held[] = [];
    try {
      for (const charge of charges) {
        if (charge.rule === null) answers.push(NOT_LIMITED);
        else this.#keep(this.#hold(charge), charge, held, answers);
      }
    } catch (error) {
      for (const { hold } of held) hold.cancel();
      throw error;
    }
    return this.#end(charges, held, answers);
  }

  #keep({ answer, hold }: Tried, charge: Charge, held: Held[], answers: Charged[]): void {
    if (hold !== null) held.push({ hold, charge, at: answers.length });
    answers.push(answer);
  }

  /** Commits what is held, or gives it back. Returns whether the request is over. */
  #end(charges: readonly Charge[], held: readonly Held[], answers: Charged[]): boolean {
    const isOver = isOverIn(charges, answers);
    for (const { hold, charge, at } of held) {
      if (!isOver) hold.commit(charge.hits);
      else {
        hold.cancel();
        answers[at] = this.#grantedIn(charge.bucket);
      }
    }
    return isOver;
  }

  #told(bucket: string, decision: Decision): Charged {
    if (decision.granted) return this.#grantedIn(bucket);
    if (decision.reason === 'not-ready') throw notReadyError(this.#node.config.nodeId, decision);
    const quota = decision.level === 'budget' ? quotaSeenAt(this.#node, bucket) : quotaIn(decision);
    return { isOver: true, quota, retryAfterMs: decision.retryAfterMs };
  }

  #hold(charge: Charge): Tried {
    const { bucket, hits, limit } = charge;
    if (hits === 0) return { answer: this.#look(bucket), hold: null };
    if (charge.mayOwe) return { answer: this.#chargeAnyway(charge), hold: null };
    const { gate } = this.#node;
    try {
      const answer = gate.reserve(bucket, { messages: hits }, limit === undefined ? undefined : { limit });
      return this.#tried(bucket, answer);
    } catch (error) {
      if (limit !== undefined && this.#isLimitRefused(error)) return this.#hold({ ...charge, limit: undefined });
      return { answer: this.#tooLarge(error, bucket), hold: null };
    }
  }

  /** Holds units of a budget; other groups answer at once. */
  async #holdLater(charge: Charge, waitMs: number): Promise<Tried> {
    const { bucket, hits, mayOwe } = charge;
    const { gate } = this.#node;
    if (gate.budgetUnitOf(bucket) === null) return this.#hold(charge);
    if (hits > 0 && mayOwe) return { answer: await this.#spend(charge), hold: null };
    try {
      const answer = await gate.hold(bucket, Math.max(1, hits), waitMs);
      const tried = this.#tried(bucket, answer);
      if (hits > 0 || tried.hold === null) return tried;
      tried.hold.cancel();
      return { answer: this.#grantedIn(bucket), hold: null };
    } catch (error) {
      return { answer: this.#tooLarge(error, bucket), hold: null };
    }
  }

  async #decideLater(charge: Charge, waitMs: number): Promise<Charged> {
    const { bucket, hits } = charge;
    const { gate } = this.#node;
    if (gate.budgetUnitOf(bucket) !== null) {
      const { answer, hold } = await this.#holdLater(charge, waitMs);
      hold?.commit(hits);
      return hold === null ? answer : this.#grantedIn(bucket);
    }
    try {
      const usualMs = Math.min(gate.usualWaitMs(bucket), waitMs);
      return this.#told(bucket, await gate.acquire(bucket, { messages: hits }, { waitMs: usualMs }));
    } catch (error) {
      return this.#tooLarge(error, bucket);
    }
  }

  /** Charges a budget with what is spent: what the period lacks cannot be. */
  async #spend({ bucket, hits }: Charge): Promise<Charged> {
    const end = await this.#node.gate.charge(bucket, Math.min(hits, OWED_MAX));
    if (typeof end === 'object') throw notReadyError(this.#node.config.nodeId, end);
    if (end === 'charged') return this.#grantedIn(bucket);
    const quota = { ...quotaSeenAt(this.#node, bucket), remaining: 0 };
    return { isOver: true, quota, retryAfterMs: quota.resetMs ?? 0 };
  }

  #tried(bucket: string, answer: Reservation | HeldUnits | Refused | NotReady): Tried {
    if (!answer.granted) return { answer: this.#told(bucket, answer), hold: null };
    return { answer: this.#grantedIn(bucket), hold: heldHits(answer) };
  }

  /** Says what is left of a bucket now. */
  #grantedIn(bucket: string): Charged {
    return { isOver: false, quota: quotaSeenAt(this.#node, bucket), retryAfterMs: 0 };
  }

  #isLimitRefused(error: unknown): boolean {
    const isRefused = error instanceof QuotameshError && /^LIMIT_/.test(error.code);
    if (isRefused) this.limitsRefused++;
    return isRefused;
  }

  /** Charges at once, whatever becomes of the other descriptors: the work is done. */
  #chargeAnyway(charge: Charge): Charged {
    return this.#hasRoom(charge) ? this.decideOne(charge) : this.#owe(charge);
  }

  /** Tests if the hits would be granted; takes none. */
  #hasRoom({ bucket, hits }: Charge): boolean {
    const { gate, loop } = this.#node;
    if (!loop.isReady) throw this.#node.notReady();
    try {
      return gate.containsTokens(bucket, { messages: hits });
    } catch (error) {
      if (error instanceof QuotameshError && error.code === 'AMOUNT_ABOVE_MAX_REQUEST') return false;
      throw error;
    }
  }

  /** Charges more than is left; the debt is one bucket at most. */
  #owe({ bucket, hits }: Charge): Charged {
    const { gate } = this.#node;
    gate.consume(bucket, { messages: Math.min(hits, OWED_MAX) });
    const quota = { ...quotaSeenAt(this.#node, bucket), remaining: 0 };
    return { isOver: true, quota, retryAfterMs: gate.throttleDurationMs(bucket) };
  }

  /** Tests if one more hit would be granted; takes none. */
  #look(bucket: string): Charged {
    const { gate, loop } = this.#node;
    if (!loop.isReady) throw this.#node.notReady();
    const isOver = !gate.containsTokens(bucket, ONE);
    return {
      isOver,
      quota: quotaSeenAt(this.#node, bucket),
      retryAfterMs: isOver ? gate.throttleDurationMs(bucket) : 0,
    };
  }

  /** Refuses more hits than a full bucket ever has. */
  #tooLarge(error: unknown, bucket: string): Charged {
    if (!(error instanceof QuotameshError) || error.code !== 'AMOUNT_ABOVE_MAX_REQUEST') throw error;
    const quota = quotaSeenAt(this.#node, bucket);
    return { isOver: true, quota, retryAfterMs: quota.windowMs ?? 0 };
  }
}

/** Tests if the request is refused: one descriptor is over its limit, or all that are quotas. */
function isOverIn(charges: readonly Charge[], answers: readonly Charged[]): boolean {
  let [quotas, quotasOver] = [0, 0];
  for (let at = 0; at < charges.length; at++) {
    const { rule } = charges[at];
    if (rule === null) continue;
    if (!rule.isQuota && answers[at].isOver) return true;
    if (rule.isQuota) quotas++;
    if (rule.isQuota && answers[at].isOver) quotasOver++;
  }
  return quotas > 0 && quotasOver === quotas;
}

interface Tried {
  readonly answer: Charged;
  /** Null = it is refused, charged already, or only looked at. */
  readonly hold: HeldHits | null;
}

interface Held {
  readonly hold: HeldHits;
  readonly charge: Charge;
  readonly at: number;
}

export const NOT_LIMITED: Charged = Object.freeze({ isOver: false, quota: NO_QUOTA, retryAfterMs: 0 });
/** Part of what a gateway still waits; the rest is for the way back. */
const WAITED_PART = 0.5;
/** Most hits that are charged at once (request-checks.ts). */
const OWED_MAX = 2 ** 40;
const ONE = Object.freeze({ messages: 1 });
