import { randomBytes } from 'node:crypto';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { nearestNames } from '../../../base/input/nearest-name.js';
import type { LimitsConfig } from '../../../config/resolved/resolved-config.js';
import { TimeHeap } from '../../../core/base/time-heap.js';
import { MESSAGES } from '../../../core/base/vocabulary.js';
import type { JointRequest } from '../../../core/limiter/joint-levels.js';
import { GRANTED, type Limiter, UNCONFIRMED } from '../../../core/limiter/limiter.js';
import type {
  Amounts,
  Batch,
  BatchAmounts,
  NotReady,
  Refund,
  Refused,
  TakeOptions,
  WaitOptions,
  Where,
} from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { Decider } from '../decide/decider.js';
import type { RefusalExplainer } from '../decide/explain-refusal.js';
import type { UnpublishedWork } from '../decide/unpublished-work.js';
import { type AvailableParts, cutToPart, leastOf, ofPart, wholeMessages } from '../request/partial-grant.js';
import {
  directionOf,
  rejectUnlessAmount,
  rejectUnlessBetween,
  rejectUnlessOptions,
  rejectUnlessSignal,
} from '../request/request-checks.js';
import type { RequestReader } from '../request/request-reader.js';
import type { ScopeResolver } from '../request/scope-resolver.js';
import { type KeyReservationParts, settleUnpublished } from '../reservation/one-reservation.js';
import { WAIT_MS_MAX, type Waiting } from '../wait/wait-lines.js';

interface OpenBatchesParts extends AvailableParts {
  readonly limiter: Limiter;
  readonly groups: GroupTable;
  readonly limits: LimitsConfig;
  readonly reader: RequestReader;
  readonly decider: Decider;
  readonly explainer: RefusalExplainer;
  readonly waiting: Waiting;
  readonly scopes: ScopeResolver;
  /** Null = there are no keys. */
  readonly unpublished: UnpublishedWork | null;
  readonly ofKeys: KeyReservationParts | null;
  /** Gives a key this limit from now on. */
  readonly tellLimit: (where: Where, limit: unknown) => void;
}

interface Open {
  readonly granted: Required<Amounts>;
  readonly request: JointRequest | null;
  readonly windows: Windows;
  readonly isDroppedCounted: () => boolean;
  /** Counts what the work has used. */
  readonly settle: (messages: number, bytes: number) => void;
}

/**
 * Keeps batches of tokens (Numaflow, "acquire" and "deposit"). A take grants as many tokens as there are, up to the
 * amount requested. Each batch may be refunded once, to the window that its tokens came from; every other refund is
 * refused, so that no token is minted. A batch that nobody refunds in time counts as used. A batch counts as admitted
 * when it ends, as reservations do: a refund would let a counter fall, which readers take for a restart.
 */
export class OpenBatches {
  readonly counts = { open: 0, ended: 0, expired: 0, refundsRefused: 0 };
  readonly #parts: OpenBatchesParts;
  readonly #open = new Map<number, Open>();
  /** Numbers of batches by expiry: a take looks only at due ones. Ended ones stay until then. */
  readonly #ends = new TimeHeap<number>();
  readonly #prefix = randomBytes(6).toString('hex');
  #isClosed = false;
  /** Takes that wait in lines; each may become a batch. */
  #waiting = 0;
  #last = 0;

  constructor(parts: OpenBatchesParts) {
    this.#parts = parts;
  }

  /** Takes at once if there are tokens; else waits up to `waitMs` for one message, and takes all there is then. */
  async take(where: Where, amounts: BatchAmounts, options: TakeOptions = {}): Promise<Batch | Refused | NotReady> {
    rejectUnlessOptions(options);
    const { waitMs = 0, signal } = options;
    rejectUnlessBetween('waitMs', waitMs, 0, WAIT_MS_MAX);
    rejectUnlessSignal(signal);
    signal?.throwIfAborted();
    if (options.limit !== undefined) this.#parts.tellLimit(where, options.limit);
    const atOnce = this.tryTake(where, amounts, options);
    if (atOnce.granted || waitMs === 0 || this.#isClosed) return atOnce;
    // A refusal for want of a share is not counted as demand yet.
    const retry = options.retry === true || atOnce.reason !== 'not-ready';
    return this.#takeInTurn(where, amounts, { ...options, retry, waitMs });
  }

  tryTake(where: Where, amounts: BatchAmounts, options: TakeOptions = {}): Batch | Refused | NotReady {
    const { clock, explainer, limits, reader } = this.#parts;
    this.expire(clock());
    const { maxReservations: max } = limits;
    if (this.#open.size + this.#waiting >= max) throw new QuotameshError('BATCHES_FULL', { max });
    const unpublished = this.#takeUnpublished(where, amounts, options);
    if (unpublished !== null) return unpublished;
    const request = reader.forBatch(where, amounts, options);
    if (request !== null && this.#isClosed) return explainer.explain(request, UNCONFIRMED);
    if (request === null) {
      // `all` of an unlimited lane was refused above.
      const { messages = 0, bytes = 0 } = amounts as Amounts;
      return this.#openedExempt({ messages, bytes }, directionOf(options));
    }
    const answer = this.#reserve(request, request, false);
    if (answer === GRANTED) return this.#openedOf(request);
    return explainer.explain({ ...request, ...leastOf(request) }, answer);
  }

  /** Takes all of a silent key; null = a group decides, which may give a part. */
  #takeUnpublished(where: Where, amounts: BatchAmounts, options: TakeOptions): Batch | NotReady | null {
    const { unpublished, ofKeys } = this.#parts;
    if (unpublished === null || ofKeys === null || amounts === 'all' || this.#isClosed) return null;
    const hold = unpublished.hold(where, amounts, options);
    if (hold === null || 'granted' in hold) return hold;
    const { key, messages, bytes } = hold;
    return this.#opened({
      granted: { messages, bytes },
      request: null,
      windows: [],
      isDroppedCounted: () => ofKeys.keys.kindOf(key)?.settings.dropped === 'counted',
      settle: (messages, bytes) => settleUnpublished(ofKeys, hold, messages, bytes),
    });
  }

  /** Waits with a request for the least amount worth waking up for. */
  async #takeInTurn(where: Where, amounts: BatchAmounts, options: TakeOptions & WaitOptions) {
    const request = this.#parts.reader.forBatch(where, amounts, options) as JointRequest;
    const { messages, bytes } = request;
    const least = leastOf(request);
    let batch: Batch | null = null;
    const decide = () => {
      const most = amounts === 'all' ? { messages: wholeMessages(this.#there(request)), bytes } : { messages, bytes };
      const answer = this.#reserve(request, most, true);
      if (answer === GRANTED) batch = this.#openedOf(request);
      else Object.assign(request, least);
      return answer;
    };
    this.#waiting++;
    try {
      const decision = await this.#parts.waiting.acquire(Object.assign(request, least), options, decide);
      return batch ?? (decision as Refused | NotReady);
    } finally {
      this.#waiting--;
    }
  }

  #there(request: JointRequest): number {
    return this.#parts.joint.availableOrShown(request, MESSAGES, this.#parts.clock());
  }

  #reserve(request: JointRequest, { messages, bytes }: Required<Amounts>, isItsTurn: boolean): number {
    request.messages = messages;
    request.bytes = bytes;
    const { decider, limiter } = this.#parts;
    cutToPart(this.#parts, request);
    const answer = decider.reserve(request, isItsTurn);
    if (answer !== GRANTED) return ofPart(limiter, request, answer);
    decider.countLeftOut(request, messages - request.messages, bytes - request.bytes, request.retry);
    return GRANTED;
  }

  /**
   * Gives back what a batch has left. Throws BATCH_UNKNOWN, BATCH_ENDED, BATCH_TOO_SMALL, AMOUNT_INVALID,
   * FIELD_INVALID, FIELD_UNKNOWN, and then gives nothing back.
   */
  refund(id: string, left: Refund): void {
    try {
      this.#refund(id, left);
    } catch (error) {
      this.counts.refundsRefused++;
      throw error;
    }
  }

  /** Ends batches whose window or time is over: they count as used. */
  expire(nowMs: number): void {
    while (this.#ends.size > 0 && this.#ends.nextMs <= nowMs) {
      const at = this.#ends.pop() as number;
      const open = this.#open.get(at);
      if (open !== undefined) this.#expire(at, open);
    }
  }

  /** Ends all batches as used: the node stops. */
  close(): void {
    this.#isClosed = true;
    this.expire(Infinity);
  }

  #openedOf(request: JointRequest): Batch {
    const { clock, groups, joint, limiter } = this.#parts;
    const { lane, messages, bytes } = request;
    return this.#opened({
      granted: { messages, bytes },
      request,
      windows: windowsOf(limiter, request, clock()),
      // The most specific group decides about dropped work.
      isDroppedCounted: () => groups.ofLane(lane).dropped === 'counted',
      settle: (messages, bytes) => joint.settle(request, messages, bytes, clock()),
    });
  }

  #openedExempt(granted: Required<Amounts>, direction: number): Batch {
    const settle = (messages: number, bytes: number) => {
      this.#parts.scopes.countExempt(direction, { messages, bytes });
    };
    return this.#opened({ granted, request: null, windows: [], isDroppedCounted: () => false, settle });
  }

  #opened(open: Open): Batch {
    const nowMs = this.#parts.clock();
    const { epoch, validMs } = this.#validity(open.windows, nowMs);
    const id = `${this.#prefix}-${++this.#last}`;
    this.#open.set(this.#last, open);
    this.#ends.push(nowMs + validMs, this.#last);
    if (this.#ends.size > 2 * this.#open.size + ENDED_MAX) this.#ends.keep((at) => this.#open.has(at));
    this.counts.open = this.#open.size;
    const refund = (left: Refund) => this.refund(id, left);
    return { granted: true, id, ...open.granted, epoch, validMs: Math.floor(validMs), refund };
  }

  #validity(windows: Windows, nowMs: number): { readonly epoch: number | null; readonly validMs: number } {
    const lengths = windows.filter((_, at) => at % 2 === 0);
    const ends = lengths.filter((windowMs) => windowMs > 0).map((windowMs) => windowMs - (nowMs % windowMs));
    const validMs = Math.min(...(ends.length === 0 ? [this.#parts.limits.reservationMs] : ends));
    const [first = 0, epoch = 0] = windows;
    return { epoch: first === 0 ? null : epoch, validMs };
  }

  #refund(id: string, left: Refund): void {
    const { unused, dropped } = readRefund(left);
    const [at, open] = this.#openAs(id);
    const { granted } = open;
    rejectAbove({ id, dimension: 'messages', amount: unused.messages + dropped.messages, granted: granted.messages });
    rejectAbove({ id, dimension: 'bytes', amount: unused.bytes + dropped.bytes, granted: granted.bytes });
    const back = open.isDroppedCounted() ? { messages: 0, bytes: 0 } : dropped;
    const messages = granted.messages - unused.messages - back.messages;
    this.#end(at, open, messages, granted.bytes - unused.bytes - back.bytes);
  }

  /** Finds an open batch. Throws BATCH_UNKNOWN, BATCH_ENDED. */
  #openAs(id: string): [number, Open] {
    const nowMs = this.#parts.clock();
    this.expire(nowMs);
    const at = this.#numberOf(id);
    const open = this.#open.get(at);
    if (open === undefined) {
      const reason = 'it was refunded already, or its window or time (validMs) is over';
      throw new QuotameshError('BATCH_ENDED', { id, reason });
    }
    // Else a shorter window or a bucket would get what a longer window gave out.
    const { request } = open;
    if (request === null || areSameWindows(open.windows, windowsOf(this.#parts.limiter, request, nowMs)))
      return [at, open];
    this.#expire(at, open);
    throw new QuotameshError('BATCH_ENDED', { id, reason: 'its group has another limiter or window by now' });
  }

  /** Ends a batch without a refund, as used. */
  #expire(at: number, open: Open): void {
    this.#end(at, open, open.granted.messages, open.granted.bytes);
    this.counts.expired++;
  }

  #end(at: number, { settle }: Open, messages: number, bytes: number): void {
    this.#open.delete(at);
    this.counts.open = this.#open.size;
    this.counts.ended++;
    settle(messages, bytes);
  }

  #numberOf(id: string): number {
    const [prefix, digits = ''] = typeof id === 'string' ? id.split('-', 2) : [];
    const at = /^[1-9]\d{0,15}$/.test(digits) ? Number(digits) : 0;
    if (prefix === this.#prefix && at > 0 && at <= this.#last && id === `${prefix}-${digits}`) return at;
    throw new QuotameshError('BATCH_UNKNOWN', { id: typeof id === 'string' ? id.slice(0, SHOWN_MAX) : showSent(id) });
  }
}

const SHOWN_MAX = 80;
/** Entries of `#ends` beyond twice the open batches before it is cleaned. */
const ENDED_MAX = 1024;

function rejectAbove(facts: { id: string; dimension: string; amount: number; granted: number }): void {
  if (facts.amount > facts.granted) throw new QuotameshError('BATCH_TOO_SMALL', facts);
}

/**
 * Reads a refund. A misspelled field would end the batch as used, so unknown ones are mistakes. Throws FIELD_INVALID,
 * FIELD_UNKNOWN, AMOUNT_INVALID.
 */
function readRefund(left: unknown): { readonly unused: Required<Amounts>; readonly dropped: Required<Amounts> } {
  const { dropped = {}, ...unused } = knownFields(left, 'refund', '', ['messages', 'bytes', 'dropped']);
  return {
    unused: amountsOf(unused, ''),
    dropped: amountsOf(knownFields(dropped, 'dropped', 'dropped.', ['messages', 'bytes']), 'dropped.'),
  };
}

function knownFields(given: unknown, name: string, prefix: string, known: readonly string[]): Mapping {
  if (!isMapping(given)) {
    const reason = `must be an object like { messages: 20 }, got ${showSent(given)}`;
    throw new QuotameshError('FIELD_INVALID', { field: name, reason });
  }
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return given;
  const near = nearestNames(unknown, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; known are ${known.join(', ')}`;
  throw new QuotameshError('FIELD_UNKNOWN', { field: prefix + unknown.slice(0, 80), near: hint });
}

function amountsOf({ messages = 0, bytes = 0 }: Mapping, prefix: string): Required<Amounts> {
  rejectUnlessAmount(`${prefix}messages`, messages);
  rejectUnlessAmount(`${prefix}bytes`, bytes);
  return { messages: messages as number, bytes: bytes as number };
}

/** Length and number of each group's window, counted from time 0 (epoch). 0 of a bucket. */
export type Windows = readonly number[];

export function windowsOf({ buckets }: Limiter, request: JointRequest, nowMs: number): Windows {
  if (buckets.windowMs === null) return BUCKETS;
  return [request.lane, ...request.further].flatMap((lane) => {
    const windowMs = buckets.windowOf(lane);
    return [windowMs, windowMs === 0 ? 0 : Math.floor(nowMs / windowMs)];
  });
}

/** Tests if tokens of windows `taken` may go back to `now`'s. */
function areSameWindows(taken: Windows, now: Windows): boolean {
  const both = Math.max(taken.length, now.length);
  for (let at = 0; at < both; at++) if ((taken[at] ?? 0) !== (now[at] ?? 0)) return false;
  return true;
}

const BUCKETS: Windows = Object.freeze([]);
