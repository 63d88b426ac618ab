import type { Clock, Timers } from '../../../base/ports/clock.js';
import type { TimeHeap } from '../../../core/base/time-heap.js';
import type { JointRequest, ShadowAnswer } from '../../../core/limiter/joint-levels.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { WakeOwner, WakeQueue } from '../../../core/limiter/wake-queue.js';
import type { Decision } from '../../api/decision.js';
import type { AdmissionWatch, WatchedRequest } from '../request/admission-watch.js';

export interface Waiter {
  readonly request: JointRequest;
  readonly turn: Turn;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly decide: (request: JointRequest) => number;
  readonly sinceMs: number;
  /** Called at the end of the wait; null = nobody watches. */
  readonly onEnd: ((decision: Decision | null) => void) | null;
  /** Last answer of the limiter; null = none yet. */
  answer: number | null;
  isLive: boolean;
}

export type Joining = Pick<Waiter, 'answer' | 'decide' | 'resolve' | 'reject' | 'signal'> & { readonly weight: number };

/** Place of a client (or topic) in a lane's line. */
export interface Turn {
  readonly line: Line;
  readonly name: string;
  readonly owner: WakeOwner<Waiter>;
  live: number;
  isParked: boolean;
}

export interface Line {
  readonly lane: number;
  readonly queue: WakeQueue<Waiter>;
  readonly turns: Map<string, Turn>;
  /** Turns that their topic's or client's limit refuses; others do not wait for them. */
  readonly parked: TimeHeap<Turn>;
  timer: unknown;
  dueMs: number;
}

/**
 * Drops ended waiters once they are half of the entries. So each look is paid for. *Why:* behind one long wait, each of
 * thousands of short ones would keep 600 bytes.
 */
export function dropEnded({ line: { turns, parked }, owner, live }: Turn): void {
  if (owner.size > 2 * live) owner.keep(({ isLive }) => isLive);
  if (parked.size > 2 * turns.size) parked.keep((turn) => turn.live > 0);
}

/** Explains missing grants (decide/explain-refusal.ts). */
interface Explainer {
  readonly watch: AdmissionWatch | null;
  /** Explains to a caller that is answered at once. */
  explain(request: JointRequest, answer: number): Decision;
  /** Explains to one that waits. */
  explainInLine(request: JointRequest, answer: number): Decision;
  askedOf(request: JointRequest): WatchedRequest;
}

export interface WaitingParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Most requests that wait at once. */
  readonly max: number;
  /** Lets the limiter decide now, and makes the node serve the lane. */
  readonly decide: (request: JointRequest) => number;
  /** Decides a request that does not wait, although others do. */
  readonly decideInPassing: (request: JointRequest) => number;
  readonly explainer: Explainer;
  /** Makes grants that report their quota. */
  readonly teller: { grant(lane: number, shadow?: ShadowAnswer | null): Decision };
  readonly arrived: (request: JointRequest) => void;
}
