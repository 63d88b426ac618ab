import { nearestNames } from '../config/nearest-name.js';
import { GRANTED, type Limiter, REFUSED, UNCONFIRMED } from '../core/limiter/limiter.js';
import { DIMENSIONS, type Dimension, laneOf } from '../core/vocabulary.js';
import { QuotameshError } from '../errors.js';
import type { QuotaNode } from '../runtime/quota-node.js';
import {
  type AcquireOptions,
  type Amounts,
  type Decision,
  GRANTED_DECISION,
  NOT_READY_RETRY_MS,
  RETRY_AFTER_MS_MAX,
} from './decision.js';

/**
 * Admission: checks what is asked for, finds the lane, and lets the limiter decide. Shared by the library and HTTP.
 * Nothing here waits, and a granted acquire allocates nothing.
 */
export class Gate {
  readonly #node: QuotaNode;
  readonly #limiter: Limiter;
  readonly #groups = new Map<string, number>();
  readonly #maxMessages: Float64Array;
  readonly #maxBytes: Float64Array;

  constructor(node: QuotaNode) {
    const { groups } = node.config;
    this.#node = node;
    this.#limiter = node.limiter;
    this.#maxMessages = Float64Array.from(groups, (group) => group.maxRequest.messages);
    this.#maxBytes = Float64Array.from(groups, (group) => group.maxRequest.bytes);
    groups.forEach((group, index) => {
      this.#groups.set(group.name, index);
    });
  }

  tryAcquire(group: string, amounts: Amounts, options?: AcquireOptions): Decision {
    const index = this.groupIndex(group);
    const messages = amounts.messages ?? 0;
    const bytes = amounts.bytes ?? 0;
    if (
      !(
        messages >= 0 &&
        messages <= (this.#maxMessages[index] as number) &&
        bytes >= 0 &&
        bytes <= (this.#maxBytes[index] as number)
      )
    ) {
      this.#rejectAmounts(index, messages, bytes);
    }
    if (messages === 0 && bytes === 0) throw nothingAsked(amounts);
    const lane = laneOf(index, options?.direction === 'dispatch' ? 1 : 0);
    return this.#decide(lane, messages, bytes, options?.retry === true);
  }

  /** Config index of a group, or of the default group. Throws GROUP_UNKNOWN naming the near ones. */
  groupIndex(group: string): number {
    const index = this.#groups.get(group);
    if (index !== undefined) return index;
    const { defaultGroup } = this.#node.config;
    if (defaultGroup !== null) return this.#groups.get(defaultGroup) as number;
    const near = nearestNames(group, [...this.#groups.keys()]);
    const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
    throw new QuotameshError('GROUP_UNKNOWN', { group, near: hint });
  }

  #decide(lane: number, messages: number, bytes: number, retry: boolean): Decision {
    const nowMs = this.#node.clock();
    let answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    if (answer === GRANTED) return GRANTED_DECISION;
    if (answer === UNCONFIRMED && this.#node.isReady) {
      this.#node.serve(lane);
      answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
      if (answer === GRANTED) return GRANTED_DECISION;
    }
    if (answer === UNCONFIRMED) return this.#notReady();
    const dimension = DIMENSIONS[answer - REFUSED] as Dimension;
    const waitMs = Math.ceil(this.#limiter.waitMs(lane, messages, bytes, nowMs));
    const retryAfterMs = Math.min(RETRY_AFTER_MS_MAX, Math.max(1, waitMs));
    return { granted: false, reason: 'quota', level: 'group', dimension, retryAfterMs };
  }

  #notReady(): Decision {
    const because = this.#node.status().notReadyBecause.join('; ') || 'shares are not confirmed';
    return { granted: false, reason: 'not-ready', because, retryAfterMs: NOT_READY_RETRY_MS };
  }

  #rejectAmounts(index: number, messages: number, bytes: number): never {
    rejectUnlessAmount('messages', messages);
    rejectUnlessAmount('bytes', bytes);
    const tooManyMessages = messages > (this.#maxMessages[index] as number);
    throw new QuotameshError('AMOUNT_ABOVE_MAX_REQUEST', {
      field: tooManyMessages ? 'messages' : 'bytes',
      amount: tooManyMessages ? messages : bytes,
      max: tooManyMessages ? this.#maxMessages[index] : this.#maxBytes[index],
      group: this.#node.config.groups[index]?.name,
    });
  }
}

function rejectUnlessAmount(field: string, amount: unknown): void {
  if (typeof amount === 'number' && Number.isFinite(amount) && amount >= 0) return;
  throw new QuotameshError('AMOUNT_INVALID', { field, reason: `must be a finite number ≥ 0, got ${String(amount)}` });
}

function nothingAsked(amounts: Amounts): QuotameshError {
  const named = Object.keys(amounts).filter((field) => field === 'messages' || field === 'bytes');
  const field = named.length > 0 ? named.join(' and ') : 'messages and bytes';
  const reason =
    named.length > 0 ? 'must not be 0 alone: ask for at least one unit' : 'are both absent: name at least one';
  return new QuotameshError('AMOUNT_INVALID', { field, reason });
}
