import type { Decision } from '../../api/decision.js';
import type { ServingLoop } from '../../core/coordinator/coordinator-view.js';
import type { JointLevels, JointRequest } from '../../core/limiter/joint-levels.js';
import type { Levels } from '../../core/limiter/levels.js';
import { GRANTED, type Limiter, REFUSED, UNCONFIRMED } from '../../core/limiter/limiter.js';
import type { Clock } from '../../ports/clock.js';
import { cutToPart, ofPart } from '../request/partial-grant.js';
import type { Waiting } from '../wait/wait-lines.js';

export interface DeciderParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly loop: ServingLoop;
  readonly levels: Levels;
  readonly joint: JointLevels;
  readonly waiting: Waiting;
  readonly explain: (request: JointRequest, answer: number) => Decision;
}

/** Asks all levels of one group, or of several, and makes the node serve their lanes from the first use on. */
export class Decider {
  readonly #limiter: Limiter;
  readonly #parts: DeciderParts;
  readonly #clock: Clock;
  readonly #loop: ServingLoop;

  constructor(parts: DeciderParts) {
    this.#parts = parts;
    this.#limiter = parts.limiter;
    this.#clock = parts.clock;
    this.#loop = parts.loop;
  }

  /** Grants a part: whole messages of the average size requested. What is left out counts as refused demand. */
  tryPart(request: JointRequest): Decision {
    const { messages, bytes, retry } = request;
    cutToPart(this.#parts, request);
    const answer = this.passing(request);
    if (answer !== GRANTED) return this.#parts.explain(request, ofPart(this.#limiter, request, answer));
    this.leftOut(request, messages - request.messages, bytes - request.bytes, retry);
    return { granted: true, messages: request.messages, bytes: request.bytes };
  }

  /** Counts what was left out of a part as refused demand of those groups that lacked tokens for it. */
  leftOut(request: JointRequest, messages: number, bytes: number, retry: boolean): void {
    if (messages === 0 && bytes === 0) return;
    const nowMs = this.#clock();
    const isShort = (lane: number) =>
      request.further.length === 0 || !this.#limiter.containsTokens(lane, messages, bytes, nowMs);
    for (const lane of [request.lane, ...request.further].filter(isShort)) {
      this.#limiter.countRefused(lane, messages, bytes, retry);
    }
  }

  /** Decides for a request that does not wait, although others may be waiting. */
  passing(request: JointRequest): number {
    if (!this.#mayPass(request, request.lane)) return this.#held(request, request.lane, request.retry);
    const answer = this.answer(request, this.#clock());
    if (answer === GRANTED) this.#passed(request, request.lane);
    return answer;
  }

  /**
   * Decides for work that is settled later. `isItsTurn` = the request comes from the front of its own line, and so
   * overtakes nobody there.
   */
  reserving(request: JointRequest, isItsTurn = false): number {
    const lines = isItsTurn ? request.further : [request.lane, ...request.further];
    const held = lines.find((lane) => !this.#mayPass(request, lane));
    if (held !== undefined) return this.#held(request, held, request.retry || held !== request.lane);
    request.refusedLane = request.lane;
    const answer = this.servedAnswer(request, () => this.#parts.joint.reserve(request, this.#clock()));
    if (answer === GRANTED) for (const lane of lines) this.#passed(request, lane);
    return answer;
  }

  answer(request: JointRequest, nowMs: number): number {
    const { levels } = this.#parts;
    request.refusedLane = request.lane;
    if (request.further.length > 0) return this.servedAnswer(request, () => this.#jointAnswer(request, nowMs));
    if (levels.isUsedBy[request.lane] === 1) return this.servedAnswer(request, () => levels.tryAcquire(request, nowMs));
    const { lane, messages, bytes, retry } = request;
    return this.servedAnswer(request, () => this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs));
  }

  /** Requests that wait in the line of one of the broader groups are not overtaken there either. */
  #jointAnswer(request: JointRequest, nowMs: number): number {
    const held = request.further.find((lane) => !this.#mayPass(request, lane));
    if (held !== undefined) return this.#held(request, held, true);
    const answer = this.#parts.joint.tryAcquire(request, nowMs);
    if (answer === GRANTED) for (const lane of request.further) this.#passed(request, lane);
    return answer;
  }

  /**
   * True if nobody waits in the line of this lane, or if its turn among the waiting ones allows it
   * (core/limiter/wake-queue.ts).
   */
  #mayPass(request: JointRequest, lane: number): boolean {
    if (this.#limiter.heldBack[lane] === 0) return true;
    return this.#parts.waiting.mayPass(lane === request.lane ? request : { ...request, lane });
  }

  #passed(request: JointRequest, lane: number): void {
    if (this.#limiter.heldBack[lane] === 0) return;
    this.#parts.waiting.passed(lane === request.lane ? request : { ...request, lane });
  }

  #held(request: JointRequest, lane: number, retry: boolean): number {
    request.refusedLane = lane;
    this.#limiter.countRefused(lane, request.messages, request.bytes, retry);
    return REFUSED + this.#limiter.buckets.scarcest(lane, request.messages, request.bytes);
  }

  /** A lane is served from its first use on. */
  serve({ lane, further }: JointRequest): void {
    this.#loop.serve(lane);
    for (const one of further) this.#loop.serve(one);
  }

  servedAnswer(request: JointRequest, answer: () => number): number {
    const first = answer();
    if (first !== UNCONFIRMED || !this.#loop.isReady) return first;
    this.serve(request);
    return answer();
  }
}
