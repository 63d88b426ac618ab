import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Decision, KeyLimit, Reservation } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { DescriptorRule } from '../rules/descriptor-rules.js';
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

  /** Returns milliseconds to wait for the log of strict groups; 0 = none. */
  waitMsOf({ bucket, hits, mayOwe }: Charge, leftMs: number): number {
    if (hits === 0 || mayOwe) return 0;
    return Math.max(0, Math.min(this.#node.gate.usualWaitMs(bucket), WAITED_PART * leftMs));
  }

  /** Decides as `decideOne`, but waits its turn. */
  async decideWaiting({ bucket, hits }: Charge, waitMs: number): Promise<Charged> {
    try {
      return this.#told(bucket, await this.#node.gate.acquire(bucket, { messages: hits }, { waitMs }));
    } catch (error) {
      return this.#tooLarge(error, bucket);
    }
  }

  /** Decides a request of several; `answers` become those of the charges. Returns whether the request is over. */
  decideAll(charges: readonly Charge[], answers: Charged[]): boolean {
    const held: { readonly reservation: Reservation; readonly charge: Charge; readonly at: number }[] = [];
    let isOver = false;
    let [quotas, quotasOver] = [0, 0];
    try {
      for (const charge of charges) {
        const { rule } = charge;
        if (rule === null) {
          answers.push(NOT_LIMITED);
          continue;
        }
        const { answer, reservation } = this.#hold(charge);
        if (reservation !== null) held.push({ reservation, charge, at: answers.length });
        answers.push(answer);
        if (rule.isQuota) {
          quotas++;
          if (answer.isOver) quotasOver++;
        } else if (answer.isOver) isOver = true;
      }
    } catch (error) {
      for (const { reservation } of held) reservation.cancel();
      throw error;
    }
    isOver ||= quotas > 0 && quotasOver === quotas;
    for (const { reservation, charge, at } of held) {
      if (!isOver) reservation.commit({ messages: charge.hits });
      else {
        reservation.cancel();
        answers[at] = this.#grantedIn(charge.bucket);
      }
    }
    return isOver;
  }

  #told(bucket: string, decision: Decision): Charged {
    if (decision.granted) return this.#grantedIn(bucket);
    if (decision.reason === 'not-ready') throw this.#node.notReady();
    return { isOver: true, quota: quotaIn(decision), retryAfterMs: decision.retryAfterMs };
  }

  #hold(charge: Charge): { readonly answer: Charged; readonly reservation: Reservation | null } {
    const { bucket, hits, limit } = charge;
    if (hits === 0) return { answer: this.#look(bucket), reservation: null };
    if (charge.mayOwe) return { answer: this.#chargeAnyway(charge), reservation: null };
    const { gate } = this.#node;
    try {
      const answer = gate.reserve(bucket, { messages: hits }, limit === undefined ? undefined : { limit });
      if (answer.granted) return { answer: this.#grantedIn(bucket), reservation: answer };
      if (answer.reason === 'not-ready') throw this.#node.notReady();
      const quota = quotaIn(answer);
      return { answer: { isOver: true, quota, retryAfterMs: answer.retryAfterMs }, reservation: null };
    } catch (error) {
      if (limit !== undefined && this.#isLimitRefused(error)) return this.#hold({ ...charge, limit: undefined });
      return { answer: this.#tooLarge(error, bucket), reservation: null };
    }
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

export const NOT_LIMITED: Charged = Object.freeze({ isOver: false, quota: NO_QUOTA, retryAfterMs: 0 });
/** Part of what a gateway still waits; the rest is for the way back. */
const WAITED_PART = 0.5;
/** Most hits that are charged at once (request-checks.ts). */
const OWED_MAX = 2 ** 40;
const ONE = Object.freeze({ messages: 1 });
