import type { Decision } from '../../api/decision.js';
import type { JointRequest } from '../../core/limiter/joint-levels.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import type { TimeHeap } from '../../core/limiter/time-heap.js';
import type { WakeOwner, WakeQueue } from '../../core/limiter/wake-queue.js';
import type { Clock } from '../../ports/clock.js';

/** One acquire that waits. */
export interface Waiter {
  readonly request: JointRequest;
  readonly turn: Turn;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly decide: (request: JointRequest) => number;
  readonly sinceMs: number;
  /** The limiter's last answer; never asked yet = the group's refusal in the scarcer dimension. */
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

/** Those who wait for one lane. */
export interface Line {
  readonly lane: number;
  readonly queue: WakeQueue<Waiter>;
  readonly turns: Map<string, Turn>;
  /** Turns whose own limit refuses (topic, client): the others need not wait for them. */
  readonly parked: TimeHeap<Turn>;
  timer: NodeJS.Timeout | null;
  dueMs: number;
}

/**
 * Called when a waiter of the turn has left. Those who have left stay behind whoever waits before them, and a turn that
 * nobody waits for stays among the parked ones: without this, a client that ends thousands of short waits a second beside
 * a long one takes 600 bytes for each of them. Half of the entries have left when they are looked at, so each is paid for
 * by one that has left.
 */
export function dropEnded({ line: { turns, parked }, owner, live }: Turn): void {
  if (owner.size > 2 * live) owner.keep(({ isLive }) => isLive);
  if (parked.size > 2 * turns.size) parked.keep((turn) => turn.live > 0);
}

/** What the lines ask. */
export interface WaitingParts {
  readonly limiter: Limiter;
  readonly clock: Clock;
  /** Waiters at once. */
  readonly max: number;
  /** The limiter's answer to a request, now; a lane that is not served yet is. */
  readonly decide: (request: JointRequest) => number;
  /** The same for somebody who does not wait, although others do. */
  readonly decideInPassing: (request: JointRequest) => number;
  readonly explain: (request: JointRequest, answer: number) => Decision;
}
