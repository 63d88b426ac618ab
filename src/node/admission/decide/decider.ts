import type { Clock } from '../../../base/ports/clock.js';
import type { JointLevels, JointRequest } from '../../../core/limiter/joint-levels.js';
import { IS_SHADOW, type Levels, OTHER_LEVELS } from '../../../core/limiter/levels.js';
import { GRANTED, type Limiter, REFUSED, UNCONFIRMED } from '../../../core/limiter/limiter.js';
import type { ServingLoop } from '../../../core/machine/coordinator-view.js';
import type { Decision } from '../../api/decision.js';
import { cutToPart, leastOf, ofPart } from '../request/partial-grant.js';
import type { Waiting } from '../wait/wait-lines.js';
import type { QuotaTeller } from './quota-told.js';

export interface DeciderParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly loop: ServingLoop;
  readonly levels: Levels;
  readonly joint: JointLevels;
  readonly waiting: Waiting;
  readonly explainer: { explain(request: JointRequest, answer: number): Decision };
  readonly teller: QuotaTeller;
  readonly shadows: AskedShadows;
}

/** Who is asked beside the groups in force, and refuses nothing (admission/shadow). */
export interface AskedShadows {
  ask(request: JointRequest, answer: number, nowMs: number): void;
  reserve(request: JointRequest, answer: number, nowMs: number): void;
}

/**
 * Decides about requests of one group or of several, by asking all levels of each. Answers are the limiter's numbers
 * (GRANTED, UNCONFIRMED, REFUSED and above).
 *
 * Every lane has a line of requests that wait. A request from elsewhere may go past them only when its turn among them
 * has come (core/limiter/wake-queue.ts). Otherwise it is refused here, and the limiter is not asked.
 */
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

  /** Decides for a request that does not wait, although others may be waiting. */
  decideInPassing(request: JointRequest): number {
    const nowMs = this.#clock();
    if (!this.#mayPass(request, request.lane)) {
      const refused = this.#refuse(request, request.lane, request.retry);
      this.#parts.shadows.ask(request, refused, nowMs);
      return refused;
    }
    const answer = this.decide(request, nowMs);
    if (answer === GRANTED) this.#passed(request, request.lane);
    return answer;
  }

  /** Decides in passing, and grants a part if need be: whole messages of the average size that was requested. */
  tryPart(request: JointRequest): Decision {
    const { messages, bytes, retry } = request;
    cutToPart(this.#parts, request);
    const answer = this.decideInPassing(request);
    if (answer !== GRANTED) {
      const refused = ofPart(this.#limiter, request, answer);
      // The least part passes sooner than the whole request.
      return this.#parts.explainer.explain({ ...request, ...leastOf(request) }, refused);
    }
    this.countLeftOut(request, messages - request.messages, bytes - request.bytes, retry);
    return this.#parts.teller.part(request.lane, request.messages, request.bytes, request.shadow);
  }

  /**
   * Counts what was left out of a part as refused demand of those groups that lacked tokens for it. Groups that refuse
   * nothing have left nothing out, and are asked about the part.
   */
  countLeftOut(request: JointRequest, messages: number, bytes: number, retry: boolean): void {
    if (messages === 0 && bytes === 0) return;
    const nowMs = this.#clock();
    const { beside } = this.#parts.levels;
    const isShort = (lane: number) =>
      (beside[lane] & IS_SHADOW) === 0 &&
      (request.further.length === 0 || !this.#limiter.containsTokens(lane, messages, bytes, nowMs));
    for (const lane of [request.lane, ...request.further].filter(isShort)) {
      this.#limiter.countRefused(lane, messages, bytes, retry);
    }
  }

  /**
   * Decides about work that is settled later. `isItsTurn` = the request comes from the front of the line of its own
   * lane, so that it goes past nobody there.
   */
  reserve(request: JointRequest, isItsTurn = false): number {
    const answer = this.#reserveInForce(request, isItsTurn);
    this.#parts.shadows.reserve(request, answer, this.#clock());
    return answer;
  }

  #reserveInForce(request: JointRequest, isItsTurn: boolean): number {
    const lines = isItsTurn ? request.further : [request.lane, ...request.further];
    const held = lines.find((lane) => !this.#mayPass(request, lane));
    if (held !== undefined) return this.#refuse(request, held, request.retry || held !== request.lane);
    request.refusedLane = request.lane;
    const answer = this.#servedAnswer(request, () => this.#parts.joint.reserve(request, this.#clock()));
    if (answer === GRANTED) for (const lane of lines) this.#passed(request, lane);
    return answer;
  }

  /** Decides for a request that goes past nobody in the line of its own lane. */
  decide(request: JointRequest, nowMs: number): number {
    const answer = this.#decideInForce(request, nowMs);
    this.#parts.shadows.ask(request, answer, nowMs);
    return answer;
  }

  #decideInForce(request: JointRequest, nowMs: number): number {
    const beside = this.#parts.levels.beside[request.lane];
    request.refusedLane = request.lane;
    if (request.further.length > 0 || (beside & IS_SHADOW) !== 0) {
      return this.#servedAnswer(request, () => this.#decideJointly(request, nowMs));
    }
    if ((beside & OTHER_LEVELS) !== 0) {
      const { levels } = this.#parts;
      return this.#servedAnswer(request, () => levels.tryAcquire(request, nowMs));
    }
    const { lane, messages, bytes, retry } = request;
    return this.#servedAnswer(request, () => this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs));
  }

  /** Serves the lanes of a request from now on: a lane has a share only after its first use at this node. */
  serve({ lane, further }: JointRequest): void {
    this.#loop.serve(lane);
    for (const one of further) this.#loop.serve(one);
  }

  /** The lines of the broader groups count, too. */
  #decideJointly(request: JointRequest, nowMs: number): number {
    const held = request.further.find((lane) => !this.#mayPass(request, lane));
    if (held !== undefined) return this.#refuse(request, held, true);
    const answer = this.#parts.joint.tryAcquire(request, nowMs);
    if (answer === GRANTED) for (const lane of request.further) this.#passed(request, lane);
    return answer;
  }

  /** Asks a second time where the lanes were not served yet. */
  #servedAnswer(request: JointRequest, ask: () => number): number {
    const first = ask();
    if (first !== UNCONFIRMED || !this.#loop.isReady) return first;
    this.serve(request);
    return ask();
  }

  /** True if nobody waits in the line of the lane, or if the turn of the request among them has come. */
  #mayPass(request: JointRequest, lane: number): boolean {
    if (this.#limiter.heldBack[lane] === 0) return true;
    return this.#parts.waiting.mayPass(lane === request.lane ? request : { ...request, lane });
  }

  /** Tells those who wait in the line of the lane that the request has had its turn. */
  #passed(request: JointRequest, lane: number): void {
    if (this.#limiter.heldBack[lane] === 0) return;
    this.#parts.waiting.passed(lane === request.lane ? request : { ...request, lane });
  }

  /** Refuses a request that may not go past the line of `lane`, as if the tokens there had not sufficed. */
  #refuse(request: JointRequest, lane: number, retry: boolean): number {
    request.refusedLane = lane;
    this.#limiter.countRefused(lane, request.messages, request.bytes, retry);
    return REFUSED + this.#limiter.buckets.scarcest(lane, request.messages, request.bytes);
  }
}
