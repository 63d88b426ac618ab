import type { Clock, Timers } from '../../../base/ports/clock.js';
import type { TimeHeap } from '../../../core/base/time-heap.js';
import type { JointRequest, ShadowAnswer } from '../../../core/limiter/joint-levels.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { WakeOwner, WakeQueue } from '../../../core/limiter/wake-queue.js';
import type { Decision } from '../../api/decision.js';
import type { AdmissionWatch, WatchedRequest } from '../request/admission-watch.js';

/** One acquire that waits. */
export interface Waiter {
  readonly request: JointRequest;
  readonly turn: Turn;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly decide: (request: JointRequest) => number;
  readonly sinceMs: number;
  /** Told how the wait has ended; null = nobody watches. */
  readonly onEnd: ((decision: Decision | null) => void) | null;
  /** The limiter's last answer; null = it has not been asked yet. */
  answer: number | null;
  isLive: boolean;
}

export type Joining = Pick<Waiter, 'answer' | 'decide' | 'resolve' | 'reject' | 'signal'> & { readonly weight: number };

/** A client's (or topic's) place in the line of a lane. */
export interface Turn {
  readonly line: Line;
  readonly name: string;
  readonly owner: WakeOwner<Waiter>;
  live: number;
  isParked: boolean;
}

/** The requests that wait for one lane. */
export interface Line {
  readonly lane: number;
  readonly queue: WakeQueue<Waiter>;
  readonly turns: Map<string, Turn>;
  /** Turns that their own topic's or client's limit refuses: the others do not wait for them. */
  readonly parked: TimeHeap<Turn>;
  /** Null = none is set. */
  timer: unknown;
  dueMs: number;
}

/**
 * Called when a waiter of the turn has left. Ended waiters stay in the queue behind one that still waits, and turns
 * without waiters stay among the parked ones. Without this, a client that ends thousands of short waits a second beside
 * a long one would take 600 bytes for each of them. At least half of the entries have ended when they are looked at, so
 * each look is paid for by an ended one.
 */
export function dropEnded({ line: { turns, parked }, owner, live }: Turn): void {
  if (owner.size > 2 * live) owner.keep(({ isLive }) => isLive);
  if (parked.size > 2 * turns.size) parked.keep((turn) => turn.live > 0);
}

/** What the lines need of who says why there is no grant (decide/explain-refusal.ts). */
interface Explainer {
  readonly watch: AdmissionWatch | null;
  /** For a caller that gets the decision at once. */
  explain(request: JointRequest, answer: number): Decision;
  /** For one that waits. */
  explainInLine(request: JointRequest, answer: number): Decision;
  askedOf(request: JointRequest): WatchedRequest;
}

/** What the lines need from the node. */
export interface WaitingParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The most requests that may wait at once. */
  readonly max: number;
  /** Asks the limiter about a request, now, and makes the node serve its lane. */
  readonly decide: (request: JointRequest) => number;
  /** Asks the limiter for a request that does not wait, although others do. */
  readonly decideInPassing: (request: JointRequest) => number;
  readonly explainer: Explainer;
  /** Grants that tell of their quota. */
  readonly teller: { grant(lane: number, shadow?: ShadowAnswer | null): Decision };
  /** Called for a request that joins a line without having been decided. */
  readonly arrived: (request: JointRequest) => void;
}
