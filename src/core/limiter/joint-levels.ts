import type { Hold } from './held-tokens.js';
import { IS_SHADOW, type Levels } from './levels.js';
import { GRANTED, REFUSED } from './limiter.js';
import type { TokenRequest } from './token-request.js';

/** Work of several groups at once (core/attachments): `lane` of the most specific group, `further` of the others. */
export interface JointRequest extends TokenRequest {
  further: readonly number[];
  /** Bits for `lane` (0) and `further` (1 and up): the lane has counted the work as demand, so it is a retry. */
  counted: number;
  /** True if the caller has named a scope, not a group. */
  namesScope: boolean;
  /** The lane whose refusal the last answer is; `lane` where there is one lane only. */
  refusedLane: number;
  /** Tokens held for the work in all levels of all groups. */
  holds?: readonly Hold[];
  /** All amounts of the request, where a part of them is enough; null = all or nothing. */
  whole?: Amounts | null;
  /** Bits as of `counted`: the plans of the lane have been asked, or need not be. */
  plansAsked?: number;
  /** Answer of a shadow, if the groups in force answer otherwise; null = no such shadow. */
  shadow?: ShadowAnswer | null;
  /** Requests in force at `reserve`; null for one group alone. Modes may change until `settle`. */
  taken?: readonly TokenRequest[] | null;
  shadowHolds?: readonly ShadowHold[];
}

export type ShadowAnswer = 'granted' | 'refused';

/** Tokens that a shadow holds until the work is settled (admission/shadow). */
export interface ShadowHold {
  settle(granted: Amounts, used: Amounts, nowMs: number): void;
}

type Amounts = Readonly<Pick<TokenRequest, 'messages' | 'bytes'>>;

/** Bits of `counted` for work refused before, perhaps at another node. */
export const ALL_COUNTED = -1;

/**
 * Treats the levels of several groups as one: all are tested before any is charged, and all are charged or none. The
 * node's own limit is charged once. Refused work is demand only of the groups that lack tokens for it, because a larger
 * share of the others would not admit it.
 */
export class JointLevels {
  readonly #levels: Levels;
  /** Milliseconds of a lane's limit that unrefusable work may leave as debt. */
  readonly #debtMsOf: (lane: number) => number;
  /** Names a lane of the same direction that nothing limits: in force where no other is. */
  readonly #unlimitedLane: (lane: number) => number;

  constructor(
    levels: Levels,
    debtMsOf: (lane: number) => number,
    unlimitedLane: (lane: number) => number = (lane) => lane,
  ) {
    this.#levels = levels;
    this.#debtMsOf = debtMsOf;
    this.#unlimitedLane = unlimitedLane;
  }

  /** Tests if one group alone decides about a request. */
  #isSingle({ lane, further }: JointRequest): boolean {
    return further.length === 0 && (this.#levels.beside[lane] & IS_SHADOW) === 0;
  }

  /** Lists one request for each group in force. The first one charges the node's own limit. */
  #inForce({ lane, further, messages, bytes, topic, client, counted }: JointRequest): TokenRequest[] {
    const requests: TokenRequest[] = [];
    for (const [at, one] of [lane, ...further].entries()) {
      if ((this.#levels.beside[one] & IS_SHADOW) !== 0) continue;
      const retry = (counted & (1 << at)) !== 0;
      requests.push({ lane: one, messages, bytes, retry, topic, client, isFurther: requests.length > 0 });
    }
    if (requests.length > 0) return requests;
    return [{ lane: this.#unlimitedLane(lane), messages, bytes, retry: false, topic, client, isFurther: false }];
  }

  /** Takes from every group or from none. The gate sends work of a single group to the limiter. */
  tryAcquire(request: JointRequest, nowMs: number): number {
    const answer = this.#take(request, nowMs, null);
    if (answer === GRANTED) this.settle(request, request.messages, request.bytes, nowMs);
    return answer;
  }

  /** Reserves like `tryAcquire`, for work whose cost is known later. The request is kept until `settle`. */
  reserve(request: JointRequest, nowMs: number): number {
    const holds: Hold[] = [];
    const answer = this.#take(request, nowMs, holds);
    if (answer === GRANTED) request.holds = holds;
    return answer;
  }

  /** Charges the cost of reserved work in every group. Unused tokens come back as far as held-tokens.ts allows. */
  settle(request: JointRequest, messages: number, bytes: number, nowMs: number): void {
    const unused = [Math.max(0, request.messages - messages), Math.max(0, request.bytes - bytes)] as const;
    for (const hold of request.holds ?? []) hold.end(unused[0], unused[1], nowMs);
    request.holds = [];
    for (const one of request.taken ?? [request])
      this.#levels.settle(one, messages, bytes, this.#debtMsOf(one.lane), nowMs);
    const { shadowHolds = NO_HOLDS } = request;
    request.shadowHolds = NO_HOLDS;
    for (const hold of shadowHolds) hold.settle(request, { messages, bytes }, nowMs);
  }

  consume(request: JointRequest, nowMs: number): void {
    if (request.further.length === 0) this.#levels.consume(request, this.#debtMsOf(request.lane), nowMs);
    else for (const one of requestsOf(request)) this.#levels.consume(one, this.#debtMsOf(one.lane), nowMs);
  }

  containsTokens(request: JointRequest, nowMs: number): boolean {
    if (this.#isSingle(request)) return this.#levels.containsTokens(request, nowMs);
    return this.#inForce(request).every((one) => this.#levels.containsTokens(one, nowMs));
  }

  /** Milliseconds until all groups could grant this; Infinity while one of them is blocked. */
  waitMs(request: JointRequest, nowMs: number): number {
    if (this.#isSingle(request)) return this.#levels.waitMs(request, nowMs);
    return Math.max(...this.#inForce(request).map((one) => this.#levels.waitMs(one, nowMs)));
  }

  throttleMs(request: JointRequest, nowMs: number): number {
    if (this.#isSingle(request)) return this.#levels.throttleMs(request, nowMs);
    return Math.max(...this.#inForce(request).map((one) => this.#levels.throttleMs(one, nowMs)));
  }

  available(request: JointRequest, dimension: number, nowMs: number): number {
    if (this.#isSingle(request)) return this.#levels.available(request, dimension, nowMs);
    return Math.min(...this.#inForce(request).map((one) => this.#levels.available(one, dimension, nowMs)));
  }

  /** Returns `available`, or the tokens of the shadows if that is Infinity. */
  availableOrShown(request: JointRequest, dimension: number, nowMs: number): number {
    const there = this.available(request, dimension, nowMs);
    if (there !== Infinity) return there;
    const lanes = [request.lane, ...request.further];
    const shadows = lanes.filter((lane) => (this.#levels.beside[lane] & IS_SHADOW) !== 0);
    return Math.min(
      there,
      ...shadows.map((lane) => this.#levels.available({ ...request, lane, isFurther: true }, dimension, nowMs)),
    );
  }

  #take(request: JointRequest, nowMs: number, holds: Hold[] | null): number {
    request.taken = null;
    if (this.#isSingle(request)) return this.#levels.reserve(request, nowMs, holds);
    const requests = this.#inForce(request);
    request.taken = requests;
    const lacking = requests.filter((one) => !this.#levels.containsTokens(one, nowMs));
    let answer = GRANTED;
    for (const one of lacking) {
      const refused = this.#levels.reserve(one, nowMs, null);
      if (refused === GRANTED) {
        // Put back at once, because `#takeAll` reserves it again. This request lacked only a row for its topic or
        // client, and has one now.
        this.#levels.putBack(one);
        continue;
      }
      if (refused >= REFUSED) setCounted(request, one.lane);
      if (answer !== GRANTED) continue;
      answer = refused;
      request.refusedLane = laneIn(request, one.lane);
    }
    return answer === GRANTED ? this.#takeAll(request, requests, nowMs, holds) : answer;
  }

  /** Reserves in all groups. If one refuses, the reservations before it are put back. */
  #takeAll(request: JointRequest, requests: readonly TokenRequest[], nowMs: number, holds: Hold[] | null): number {
    for (const [at, one] of requests.entries()) {
      const answer = this.#levels.reserve(one, nowMs, holds);
      if (answer === GRANTED) continue;
      for (const hold of holds ?? []) hold.end(0, 0, nowMs);
      for (const taken of requests.slice(0, at)) this.#levels.putBack(taken);
      request.refusedLane = laneIn(request, one.lane);
      if (answer >= REFUSED) setCounted(request, one.lane);
      return answer;
    }
    return GRANTED;
  }
}

function requestsOf({ lane, further, messages, bytes, topic, client, counted }: JointRequest): TokenRequest[] {
  return [lane, ...further].map((one, at) => {
    const retry = (counted & (1 << at)) !== 0;
    return { lane: one, messages, bytes, retry, topic, client, isFurther: at > 0 };
  });
}

function setCounted(request: JointRequest, lane: number): void {
  request.counted |= 1 << (laneIn(request, lane) === request.lane ? 0 : request.further.indexOf(lane) + 1);
}

/** Names the lane that the unlimited one stands for. */
function laneIn({ lane, further }: JointRequest, asked: number): number {
  return further.includes(asked) ? asked : lane;
}

const NO_HOLDS: readonly ShadowHold[] = Object.freeze([]);
