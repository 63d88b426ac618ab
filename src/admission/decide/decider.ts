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
  readonly explain: (ask: JointRequest, answer: number) => Decision;
}

/** The answers of all levels of one group or of several, with lanes that are served from their first use on. */
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

  /** Whole messages of the average size asked for; what is left out counts as refused demand. */
  tryPart(ask: JointRequest): Decision {
    const { messages, bytes, retry } = ask;
    cutToPart(this.#parts, ask);
    const answer = this.passing(ask);
    if (answer !== GRANTED) return this.#parts.explain(ask, ofPart(this.#limiter, ask, answer));
    this.leftOut(ask, messages - ask.messages, bytes - ask.bytes, retry);
    return { granted: true, messages: ask.messages, bytes: ask.bytes };
  }

  /** What was left out of a part is refused demand of the groups that are short of it. */
  leftOut(ask: JointRequest, messages: number, bytes: number, retry: boolean): void {
    if (messages === 0 && bytes === 0) return;
    const nowMs = this.#clock();
    const isShort = (lane: number) =>
      ask.further.length === 0 || !this.#limiter.containsTokens(lane, messages, bytes, nowMs);
    for (const lane of [ask.lane, ...ask.further].filter(isShort)) {
      this.#limiter.countRefused(lane, messages, bytes, retry);
    }
  }

  /** Decides for somebody who does not wait, although others may. */
  passing(ask: JointRequest): number {
    if (!this.#mayPass(ask, ask.lane)) return this.#held(ask, ask.lane, ask.retry);
    const answer = this.answer(ask, this.#clock());
    if (answer === GRANTED) this.#passed(ask, ask.lane);
    return answer;
  }

  /** The same for what is settled later. `isItsTurn`: whoever waits in its own line is served by it. */
  reserving(ask: JointRequest, isItsTurn = false): number {
    const lines = isItsTurn ? ask.further : [ask.lane, ...ask.further];
    const held = lines.find((lane) => !this.#mayPass(ask, lane));
    if (held !== undefined) return this.#held(ask, held, ask.retry || held !== ask.lane);
    ask.refusedLane = ask.lane;
    const answer = this.servedAnswer(ask, () => this.#parts.joint.reserve(ask, this.#clock()));
    if (answer === GRANTED) for (const lane of lines) this.#passed(ask, lane);
    return answer;
  }

  answer(ask: JointRequest, nowMs: number): number {
    const { levels } = this.#parts;
    ask.refusedLane = ask.lane;
    if (ask.further.length > 0) return this.servedAnswer(ask, () => this.#jointAnswer(ask, nowMs));
    if (levels.isUsedBy[ask.lane] === 1) return this.servedAnswer(ask, () => levels.tryAcquire(ask, nowMs));
    const { lane, messages, bytes, retry } = ask;
    return this.servedAnswer(ask, () => this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs));
  }

  /** Whoever waits in the line of one of the broader groups is not overtaken there either. */
  #jointAnswer(ask: JointRequest, nowMs: number): number {
    const held = ask.further.find((lane) => !this.#mayPass(ask, lane));
    if (held !== undefined) return this.#held(ask, held, true);
    const answer = this.#parts.joint.tryAcquire(ask, nowMs);
    if (answer === GRANTED) for (const lane of ask.further) this.#passed(ask, lane);
    return answer;
  }

  /** Nobody waits in the line of this lane, or there is enough for them, too. */
  #mayPass(ask: JointRequest, lane: number): boolean {
    if (this.#limiter.heldBack[lane] === 0) return true;
    return this.#parts.waiting.mayPass(lane === ask.lane ? ask : { ...ask, lane });
  }

  #passed(ask: JointRequest, lane: number): void {
    if (this.#limiter.heldBack[lane] === 0) return;
    this.#parts.waiting.passed(lane === ask.lane ? ask : { ...ask, lane });
  }

  #held(ask: JointRequest, lane: number, retry: boolean): number {
    ask.refusedLane = lane;
    this.#limiter.countRefused(lane, ask.messages, ask.bytes, retry);
    return REFUSED + this.#limiter.buckets.scarcest(lane, ask.messages, ask.bytes);
  }

  /** A lane is served from its first use on. */
  serve({ lane, further }: JointRequest): void {
    this.#loop.serve(lane);
    for (const one of further) this.#loop.serve(one);
  }

  servedAnswer(ask: JointRequest, answer: () => number): number {
    const first = answer();
    if (first !== UNCONFIRMED || !this.#loop.isReady) return first;
    this.serve(ask);
    return answer();
  }
}
