import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { TimeHeap } from '../../../core/base/time-heap.js';
import { bucketMsOf } from '../../../core/limiter/bucket-wait.js';
import type { JointRequest } from '../../../core/limiter/joint-levels.js';
import { isOwnLimit } from '../../../core/limiter/levels.js';
import { GRANTED, REFUSED, UNCONFIRMED } from '../../../core/limiter/limiter.js';
import { WakeOwner, WakeQueue } from '../../../core/limiter/wake-queue.js';
import { type Decision, NOT_READY_RETRY_MS, type WaitOptions } from '../../api/decision.js';
import { rejectUnlessBetween, rejectUnlessSignal } from '../request/request-checks.js';
import { AbortWatch } from './abort-watch.js';
import { dropEnded, type Joining, type Line, type Turn, type Waiter, type WaitingParts } from './wait-line.js';

/**
 * Queues requests for their turns, in a line per lane. Clients (or topics) take turns in the order of the wake-up
 * queue; a client's own requests keep theirs. Newcomers join a line that there is. A promise settles when its tokens
 * are there, so no herd competes; a few hundred settle per turn of the event loop.
 */
export class Waiting {
  /** Ended waits, and their milliseconds together. */
  readonly ended = { granted: 0, otherwise: 0, totalMs: 0 };
  readonly #parts: WaitingParts;
  readonly #lines = new Map<number, Line>();
  readonly #deadlines = new TimeHeap<Waiter>();
  readonly #aborts = new AbortWatch<Waiter>((waiter, reason) => {
    if (this.#leave(waiter)) waiter.reject(reason);
  });
  #deadlineTimer: unknown = null;
  #deadlineDueMs = Infinity;
  #count = 0;
  #closed = false;

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#count;
  }

  /** Waits. @param decide takes otherwise than by default, and leaves in `request` what it took */
  async acquire(request: JointRequest, options: WaitOptions, decide = this.#parts.decide): Promise<Decision> {
    rejectUnlessWaiting(options);
    const { waitMs, signal, weight = 1 } = options;
    const line = this.#lines.get(request.lane);
    let answer: number | null = null;
    if (line === undefined) {
      answer = decide(request);
      if (answer === GRANTED) return this.#parts.teller.grant(request.lane, request.shadow);
      if (answer < 0 || waitMs === 0 || this.#closed) return this.#parts.explainer.explain(request, answer);
    } else if (waitMs === 0) {
      answer = this.#parts.decideInPassing(request);
      return answer === GRANTED
        ? this.#parts.teller.grant(request.lane, request.shadow)
        : this.#parts.explainer.explain(request, answer);
    }
    if (this.#count >= this.#parts.max) throw new QuotameshError('WAITING_FULL', { max: this.#parts.max });
    return new Promise<Decision>((resolve, reject) => {
      const waiter = this.#join(request, { answer, decide, weight, resolve, reject, signal });
      this.#deadlines.push(this.#parts.clock() + waitMs, waiter);
      this.#planDeadline();
    });
  }

  /** Tests if a request may pass those who wait (core/limiter/wake-queue.ts). */
  mayPass(request: JointRequest): boolean {
    return this.#lines.get(request.lane)?.queue.mayPass(this.#costOf(request)) ?? true;
  }

  passed(request: JointRequest): void {
    this.#lines.get(request.lane)?.queue.passed(this.#costOf(request));
  }

  /** Plans waiting requests anew under changed limits (PIP-322, #25502). */
  limitsChanged(lanes: Iterable<number>): void {
    if (this.#lines.size === 0) return;
    for (const lane of lanes) {
      const line = this.#lines.get(lane);
      if (line !== undefined) this.#plan(line, 0);
    }
  }

  /** Tries all waiting requests again: the node has begun to decide. */
  wakeAll(): void {
    this.limitsChanged(this.#lines.keys());
  }

  rejectAll(lane: number, reason: () => Error): void {
    const line = this.#lines.get(lane);
    if (line === undefined) return;
    for (const { owner } of [...line.turns.values()]) {
      for (const { item } of owner.items.slice(owner.head)) if (this.#leave(item)) item.reject(reason());
    }
  }

  /** Rejects all waiting requests with one answer: explaining takes longer than answering. */
  close(): void {
    this.#closed = true;
    let stopping: Decision | null = null;
    for (let waiter = this.#deadlines.pop(); waiter !== undefined; waiter = this.#deadlines.pop()) {
      if (!waiter.isLive) continue;
      stopping ??= this.#parts.explainer.explainInLine(waiter.request, UNCONFIRMED);
      this.#end(waiter, stopping);
    }
    if (this.#deadlineTimer !== null) this.#parts.timers.clear(this.#deadlineTimer);
  }

  #join(request: JointRequest, { weight, ...who }: Joining): Waiter {
    const { answer, signal } = who;
    const { limiter } = this.#parts;
    const line = this.#lines.get(request.lane) ?? this.#begin(request.lane);
    const name = turnOf(request);
    const turn = line.turns.get(name) ?? { line, name, owner: new WakeOwner<Waiter>(weight), live: 0, isParked: false };
    line.turns.set(name, turn);
    if (answer === null && !turn.isParked) this.#parts.arrived(request);
    // Work is demand from its arrival on; a topic's or client's limit that refused it has counted it.
    if (answer === null && !turn.isParked && !request.retry) {
      limiter.countArrival(request.lane, request.messages, request.bytes);
      request.counted |= 1;
    }
    if (answer === null ? !turn.isParked : answer !== UNCONFIRMED) request.retry = true;
    const { explainer } = this.#parts;
    const onEnd = explainer.watch?.waits(explainer.askedOf(request)) ?? null;
    const waiter: Waiter = { request, turn, sinceMs: this.#parts.clock(), onEnd, isLive: true, ...who };
    if (signal !== undefined) this.#aborts.add(signal, waiter);
    turn.live++;
    this.#count++;
    limiter.heldBack[request.lane] = limiter.heldBack[request.lane] + 1;
    if (turn.isParked) turn.owner.push(waiter, this.#costOf(request));
    else line.queue.add(turn.owner, waiter, this.#costOf(request));
    // If others wait in this line already, its next turn is planned.
    if (line.queue.owners <= 1)
      this.#plan(line, answer === null || concernsOneTurn(request, answer) ? 0 : this.#waitMs(waiter));
    return waiter;
  }

  #begin(lane: number): Line {
    const queue = new WakeQueue<Waiter>((waiter) => waiter.isLive);
    const line: Line = { lane, queue, turns: new Map(), parked: new TimeHeap(), timer: null, dueMs: 0 };
    this.#lines.set(lane, line);
    return line;
  }

  /** Serves turn after turn while the limiter grants. */
  #serve(line: Line): void {
    line.timer = null;
    const nowMs = this.#parts.clock();
    while (line.parked.nextMs <= nowMs) this.#unpark(line.parked.pop() as Turn);
    for (let served = 0; served < SERVED_AT_ONCE; served++) {
      const owner = line.queue.peek();
      if (owner === null) break;
      const waiter = owner.items[owner.head].item;
      const answer = waiter.decide(waiter.request);
      waiter.answer = answer;
      if (answer === GRANTED) {
        if (waiter.decide === this.#parts.decide) line.queue.take(owner);
        else line.queue.takePart(owner, this.#costOf(waiter.request));
        this.#end(waiter, this.#parts.teller.grant(waiter.request.lane, waiter.request.shadow));
      } else if (answer < 0) {
        this.#fail(waiter, answer);
      } else {
        if (answer !== UNCONFIRMED) waiter.request.retry = true;
        if (!concernsOneTurn(waiter.request, answer)) {
          this.#plan(line, this.#waitMs(waiter));
          return;
        }
        this.#park(waiter, nowMs);
      }
    }
    if (this.#lines.get(line.lane) !== line) return;
    this.#plan(line, line.queue.owners > 0 ? 0 : line.parked.nextMs - nowMs);
  }

  #park(waiter: Waiter, nowMs: number): void {
    const { turn } = waiter;
    turn.line.queue.leave(turn.owner);
    turn.isParked = true;
    const { request } = waiter;
    const maxMs = request.refusedLane === request.lane ? PARKED_MS_MAX : FURTHER_PARKED_MS_MAX;
    turn.line.parked.push(nowMs + Math.min(this.#waitMs(waiter), maxMs), turn);
  }

  #unpark(turn: Turn): void {
    turn.isParked = false;
    if (turn.live > 0) turn.line.queue.rejoin(turn.owner);
  }

  #waitMs({ request, answer }: Waiter): number {
    const decision = this.#parts.explainer.explainInLine(request, answer ?? this.#refusalOf(request));
    if (decision.granted) return 0;
    return decision.reason === 'not-ready' ? NOT_READY_RETRY_MS : decision.retryAfterMs;
  }

  #plan(line: Line, waitMs: number): void {
    const dueMs = this.#parts.clock() + waitMs;
    if (line.timer !== null) {
      if (line.dueMs <= dueMs) return;
      this.#parts.timers.clear(line.timer);
    }
    line.dueMs = dueMs;
    line.timer = this.#parts.timers.set(() => this.#serve(line), Math.min(PARKED_MS_MAX, Math.ceil(waitMs)));
  }

  #fail(waiter: Waiter, answer: number): void {
    try {
      this.#parts.explainer.explainInLine(waiter.request, answer);
    } catch (error) {
      if (this.#leave(waiter)) waiter.reject(error);
    }
  }

  #end(waiter: Waiter, decision: Decision): void {
    if (this.#leave(waiter, decision)) waiter.resolve(decision);
  }

  /** Takes a waiter out of the line: in constant time on average (`dropEnded`). */
  #leave(waiter: Waiter, decision: Decision | null = null): boolean {
    if (!waiter.isLive) return false;
    waiter.isLive = false;
    waiter.onEnd?.(decision);
    this.ended[decision?.granted === true ? 'granted' : 'otherwise']++;
    this.ended.totalMs += Math.max(0, this.#parts.clock() - waiter.sinceMs);
    if (waiter.signal !== undefined) this.#aborts.remove(waiter.signal, waiter);
    const { turn, request } = waiter;
    const { limiter } = this.#parts;
    this.#count--;
    limiter.heldBack[request.lane] = limiter.heldBack[request.lane] - 1;
    turn.live--;
    if (turn.live === 0) {
      turn.line.queue.leave(turn.owner);
      turn.line.turns.delete(turn.name);
    }
    dropEnded(turn);
    if (turn.line.turns.size === 0) this.#endLine(turn.line);
    if (this.#deadlines.size > 2 * this.#count + ENDED_MAX) this.#deadlines.keep(({ isLive }) => isLive);
    return true;
  }

  #endLine(line: Line): void {
    if (line.timer !== null) this.#parts.timers.clear(line.timer);
    line.timer = null;
    this.#lines.delete(line.lane);
  }

  #planDeadline(): void {
    const { nextMs } = this.#deadlines;
    if (this.#deadlineTimer !== null) {
      if (this.#deadlineDueMs <= nextMs) return;
      this.#parts.timers.clear(this.#deadlineTimer);
      this.#deadlineTimer = null;
    }
    if (nextMs === Infinity) return;
    this.#deadlineDueMs = nextMs;
    const waitMs = Math.max(0, Math.ceil(nextMs - this.#parts.clock()));
    this.#deadlineTimer = this.#parts.timers.set(() => this.#expire(), waitMs);
  }

  #expire(): void {
    this.#deadlineTimer = null;
    const nowMs = this.#parts.clock();
    for (let ended = 0; ended < SERVED_AT_ONCE && this.#deadlines.nextMs <= nowMs; ended++) {
      const waiter = this.#deadlines.pop() as Waiter;
      if (!waiter.isLive) continue;
      this.#end(
        waiter,
        this.#parts.explainer.explainInLine(waiter.request, waiter.answer ?? this.#refusalOf(waiter.request)),
      );
    }
    this.#planDeadline();
  }

  /** Returns the refusal of a request that the limiter did not see: by the group, in the scarcer dimension. */
  #refusalOf({ lane, messages, bytes }: JointRequest): number {
    return REFUSED + this.#parts.limiter.buckets.scarcest(lane, messages, bytes);
  }

  #costOf({ lane, messages, bytes }: JointRequest): number {
    return bucketMsOf(this.#parts.limiter.buckets, lane, messages, bytes);
  }
}

export const WAIT_MS_MAX = 600_000;
const WEIGHT_MAX = 1000;
/** Waiters settled per turn of the event loop: about 1 ms. */
const SERVED_AT_ONCE = 500;
/** Deadlines of served requests in the heap before it is cleaned. */
const ENDED_MAX = 1024;
const PARKED_MS_MAX = 60_000;

/** Names the owner of a turn: the client, or else the topic; requests of further groups apart. */
function turnOf({ client, topic, further }: JointRequest): string {
  const name = client === '' ? topic : client;
  return further.length === 0 ? name : `${name}\n${further.join()}`;
}

/** Milliseconds until a line that waits for a broader group looks again. */
const FURTHER_PARKED_MS_MAX = 500;

/** Tests if a topic's, client's or broader group's limit refused: others in line may still pass. */
function concernsOneTurn({ lane, refusedLane }: JointRequest, answer: number): boolean {
  return isOwnLimit(answer) || refusedLane !== lane;
}

/** Checks options. Throws FIELD_INVALID, or the signal's reason. */
export function rejectUnlessWaiting(options: WaitOptions): void {
  const { waitMs, signal, weight = 1 }: Partial<WaitOptions> = options ?? {};
  rejectUnlessBetween('waitMs', waitMs, 0, WAIT_MS_MAX);
  rejectUnlessBetween('weight', weight, 1, WEIGHT_MAX);
  rejectUnlessSignal(signal);
  signal?.throwIfAborted();
}
