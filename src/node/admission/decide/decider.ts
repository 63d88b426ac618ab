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

/** Shadows, which decide beside the groups in force and refuse nothing (admission/shadow). */
interface AskedShadows {
  ask(request: JointRequest, answer: number, nowMs: number): void;
  reserve(request: JointRequest, answer: number, nowMs: number): void;
}

/**
 * Decides about requests of groups, by all levels of each. Answers are the limiter's numbers (GRANTED, UNCONFIRMED,
 * REFUSED and above). Where others wait in a lane's line, a request is refused without the limiter unless its turn
 * among them has come (core/limiter/wake-queue.ts).
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

  /** Decides a request that does not wait, although others may. */
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

  /** Decides in passing; grants a part if need be, in whole messages of the requested average size. */
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
   * Counts what a part left out as refused demand: of the groups that lacked its tokens. Groups that refuse nothing
   * have left nothing out, and decide about the part.
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

  /** Decides work that is settled later. `isItsTurn` = it is first in its own lane's line. */
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

  /** Decides a request that goes past nobody in its own lane's line. */
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

  /** Serves a request's lanes from now on: a lane has a share only after its first use here. */
  serve({ lane, further }: JointRequest): void {
    this.#loop.serve(lane);
    for (const one of further) this.#loop.serve(one);
  }

  /** Decides for several groups; the broader groups' lines count, too. */
  #decideJointly(request: JointRequest, nowMs: number): number {
    const held = request.further.find((lane) => !this.#mayPass(request, lane));
    if (held !== undefined) return this.#refuse(request, held, true);
    const answer = this.#parts.joint.tryAcquire(request, nowMs);
    if (answer === GRANTED) for (const lane of request.further) this.#passed(request, lane);
    return answer;
  }

  /** Decides a second time where the lanes were not served yet. */
  #servedAnswer(request: JointRequest, ask: () => number): number {
    const first = ask();
    if (first !== UNCONFIRMED || !this.#loop.isReady) return first;
    this.serve(request);
    return ask();
  }

  /** Tests if nobody waits in the lane's line, or its turn came. */
  #mayPass(request: JointRequest, lane: number): boolean {
    if (this.#limiter.heldBack[lane] === 0) return true;
    return this.#parts.waiting.mayPass(lane === request.lane ? request : { ...request, lane });
  }

  /** Counts the request's turn in the lane's line. */
  #passed(request: JointRequest, lane: number): void {
    if (this.#limiter.heldBack[lane] === 0) return;
    this.#parts.waiting.passed(lane === request.lane ? request : { ...request, lane });
  }

  /** Refuses a request that may not pass a line, as without tokens. */
  #refuse(request: JointRequest, lane: number, retry: boolean): number {
    request.refusedLane = lane;
    this.#limiter.countRefused(lane, request.messages, request.bytes, retry);
    return REFUSED + this.#limiter.buckets.scarcest(lane, request.messages, request.bytes);
  }
}
