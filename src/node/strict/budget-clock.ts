import type { Clock } from '../../base/ports/clock.js';

/** Milliseconds by which the clock may be set forward. More: periods may begin earlier. */
const SET_FORWARD_MS = 60_000;

/**
 * Makes a wall clock that does not jump ahead: since the start of the process it has gone no further than the clock
 * that nobody sets. A jump back is taken as it is: it begins no period.
 *
 * *Worked:* an hour after the start somebody sets the clock a month ahead: an hour and a minute have passed here.
 */
export function budgetClock(clock: Clock, wall: () => number = Date.now): () => number {
  const [startedMs, startedWallMs] = [clock(), wall()];
  return () => Math.min(wall(), startedWallMs + clock() - startedMs + SET_FORWARD_MS);
}
