import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import { ALL_COUNTED, type JointRequest } from '../../../core/limiter/joint-levels.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { Amounts, BatchAmounts, Origin, ReserveOptions, TakeOptions, Where } from '../../api/decision.js';
import type { GroupTable } from '../../groups/group-table.js';
import type { GroupNames } from './group-names.js';
import type { LaneBounds } from './lane-bounds.js';
import { type AvailableParts, wholeMessages } from './partial-grant.js';
import { directionOf, noEndOf, rejectAmounts, rejectUnlessOptions, rejectUnlessSomething } from './request-checks.js';
import { type ScopeResolver, scopeText } from './scope-resolver.js';

interface RequestReaderParts extends AvailableParts {
  readonly groups: GroupTable;
  readonly names: GroupNames;
  readonly scopes: ScopeResolver;
  readonly bounds: LaneBounds;
  readonly limiter: Limiter;
  /** Refuses by name what strict groups cannot do (admission/strict). */
  /** Refuses who asks a group with concurrency for tokens alone (admission/slots). */
  readonly slotGate: { refuse(lanes: readonly number[]): void };
  /** Gates of strict groups and of budgets. */
  readonly kept: readonly { refuse(request: JointRequest, what: string): void }[];
}

/** Checks a caller's words and finds the lanes of its groups. */
export class RequestReader {
  readonly #parts: RequestReaderParts;
  readonly #bounds: LaneBounds;
  /** Scratch space: the current request. */
  readonly #request: JointRequest = {
    lane: 0,
    messages: 0,
    bytes: 0,
    retry: false,
    topic: '',
    client: '',
    further: ALONE,
    counted: 0,
    namesScope: false,
    refusedLane: 0,
    whole: null,
    plansAsked: 0,
    shadow: null,
    taken: null,
    shadowHolds: NO_HOLDS,
  };

  constructor(parts: RequestReaderParts) {
    this.#parts = parts;
    this.#bounds = parts.bounds;
  }

  isAllowed(lane: number, messages: number, bytes: number): boolean {
    // Integers first: comparing a BigInt or a Symbol throws an unreadable error.
    return (
      Number.isInteger(messages) &&
      Number.isInteger(bytes) &&
      messages >= 0 &&
      messages <= this.#bounds.maxMessages[lane] &&
      bytes >= 0 &&
      bytes <= this.#bounds.maxBytes[lane] &&
      messages + bytes > 0
    );
  }

  /** Makes a batch's request, which the batch keeps; `all` = what there is; null = exempt. */
  forBatch(where: Where, amounts: BatchAmounts, options: TakeOptions): JointRequest | null {
    const asked = amounts === 'all' ? this.fillFor(where, 1, 0, options) : this.requestOf(where, amounts, options);
    if (asked === null) {
      if (amounts === 'all') throw noEndOf(scopeText(where as Scope));
      return null;
    }
    for (const gate of this.#parts.kept) gate.refuse(asked, 'take batches');
    const request = retried(asked, options);
    if (amounts !== 'all') return request;
    const { clock, joint, loop, groups } = this.#parts;
    for (const lane of [request.lane, ...request.further]) loop.serve(lane);
    const there = joint.availableOrShown(request, MESSAGES, clock());
    if (there === Infinity) throw noEndOf(`group ${groups.ofLane(request.lane).name}`);
    request.messages = wholeMessages(there);
    return request;
  }

  requestOf(where: Where, amounts: Amounts, origin: Origin | undefined): JointRequest | null {
    const { messages = 0, bytes = 0 } = amounts ?? NO_AMOUNTS;
    const request = this.fillFor(where, messages, bytes, origin);
    if (request === null) {
      rejectUnlessSomething(amounts);
      return null;
    }
    for (const lane of [request.lane, ...request.further]) {
      if (!this.isAllowed(lane, request.messages, request.bytes)) this.reject(lane, amounts);
    }
    return request;
  }

  /** Makes the request of who enters a group; the caller keeps it. */
  forSlot(lane: number, amounts: Amounts, origin: Origin): JointRequest {
    const { messages = 0, bytes = 0 } = amounts;
    if (!this.isAllowed(lane, messages, bytes)) this.reject(lane, amounts);
    return { ...this.fillOn(lane, messages, bytes, origin) };
  }

  /** Fills the scratch space without checking amounts; null = exempt. */
  fillFor(where: Where, messages: number, bytes: number, origin: Origin = NO_OPTIONS): JointRequest | null {
    rejectUnlessOptions(origin);
    const direction = directionOf(origin);
    if (typeof where !== 'object' || where === null) {
      const lane = laneOf(this.#parts.names.indexOf(where), direction);
      this.#parts.slotGate.refuse([lane]);
      if (origin.topic !== undefined) this.#parts.limiter.topics.note(lane, origin.topic);
      return this.fillOn(lane, messages, bytes, origin);
    }
    const [lane, ...further] = this.#parts.scopes.lanesOf(where, direction);
    if (lane === undefined) return null;
    this.#parts.slotGate.refuse([lane, ...further]);
    const { topic = where.topic ?? '', client = where.client ?? '' } = origin;
    const request = this.fillOn(lane, messages, bytes, { topic, client });
    request.namesScope = true;
    this.#parts.limiter.topics.note(lane, topic);
    for (const one of further) this.#parts.limiter.topics.note(one, topic);
    if (further.length > 0) request.further = further;
    return request;
  }

  /** Fills it for a lane. @param origin has been checked */
  fillOn(lane: number, messages: number, bytes: number, { topic = '', client = '' }: Origin): JointRequest {
    const request = this.#request;
    request.lane = lane;
    request.messages = messages;
    request.bytes = bytes;
    request.retry = false;
    request.topic = topic;
    request.client = client;
    request.further = ALONE;
    request.counted = 0;
    request.namesScope = false;
    request.refusedLane = lane;
    request.whole = null;
    request.plansAsked = 0;
    request.shadow = null;
    request.taken = null;
    request.shadowHolds = NO_HOLDS;
    return request;
  }

  rejectAboveCommit(request: JointRequest, actual: Required<Amounts>): void {
    for (const lane of [request.lane, ...request.further]) {
      const most = { messages: this.#bounds.maxMessages[lane], bytes: this.#bounds.maxBytes[lane] };
      for (const field of ['messages', 'bytes'] as const) {
        const [amount, max] = [actual[field], Math.max(most[field], request[field])];
        if (amount <= max) continue;
        const group = this.#parts.groups.ofLane(lane).name;
        throw new QuotameshError('COMMIT_ABOVE_MAX_REQUEST', { field, amount, max, group });
      }
    }
  }

  reject(lane: number, amounts: Amounts): never {
    const group = this.#parts.groups.ofLane(lane).name;
    rejectAmounts(amounts, { messages: this.#bounds.maxMessages[lane], bytes: this.#bounds.maxBytes[lane], group });
    throw new QuotameshError('UNEXPECTED', { reason: 'an amount was refused for no reason' });
  }
}

const ALONE: readonly number[] = Object.freeze([]);
const NO_HOLDS: readonly never[] = Object.freeze([]);

export function retried(request: JointRequest, options: ReserveOptions | undefined): JointRequest {
  return setRetry({ ...request }, options);
}

export function setRetry(request: JointRequest, options: ReserveOptions | undefined): JointRequest {
  request.retry = options?.retry === true;
  request.counted = request.retry ? ALL_COUNTED : 0;
  request.plansAsked = request.counted;
  return request;
}

const NO_OPTIONS: Origin = Object.freeze({});
const NO_AMOUNTS: Amounts = Object.freeze({});
