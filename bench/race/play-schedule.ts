import type { Limiter } from './contender.js';

/** What became of a request. `LOST`: the limiter failed. `OPEN`: no answer has come. */
export const OPEN = 0;
export const ADMITTED = 1;
export const REFUSED = 2;
export const LOST = 3;

/** One node's part of a race: a number per request, in the order of the schedule. Times are since the beginning. */
export interface Played {
  readonly dueMs: Float64Array;
  /** NaN = not answered. */
  readonly endedMs: Float64Array;
  readonly outcomes: Uint8Array;
  /** What the first failure said; null = there was none. */
  readonly failure: string | null;
}

export interface PlayClock {
  /** Since the beginning of the schedule. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

/** Least that a timer waits for; requests that come within it are asked together, and are late by what they waited. */
const TIMER_MS = 1;

/**
 * Asks every request of a schedule at its time, whatever became of those before: an open loop. What is due already is
 * asked at once and never left out, so a limiter, or a process, that stands still is late for all that came meanwhile.
 * Answers are waited for until `patienceMs` after the last request.
 */
export async function playSchedule(
  dueMs: Float64Array,
  key: string,
  limiter: Limiter,
  clock: PlayClock,
  patienceMs: number,
): Promise<Played> {
  const endedMs = new Float64Array(dueMs.length).fill(Number.NaN);
  const outcomes = new Uint8Array(dueMs.length);
  let failure: string | null = null;
  const ended = (at: number, outcome: number): void => {
    endedMs[at] = clock.nowMs();
    outcomes[at] = outcome;
  };
  const failed = (at: number, error: unknown): void => {
    ended(at, LOST);
    failure ??= String(error);
  };
  const waiting = new Set<Promise<void>>();
  const wait = (at: number, answer: Promise<boolean>): void => {
    const answered: Promise<void> = answer
      .then(
        (isAdmitted) => ended(at, isAdmitted ? ADMITTED : REFUSED),
        (error: unknown) => failed(at, error),
      )
      .finally(() => waiting.delete(answered));
    waiting.add(answered);
  };
  const ask = (at: number): void => {
    try {
      const answer = limiter.ask(key);
      // An answer that is there already is not made a promise, which would cost more than some decisions.
      if (typeof answer === 'boolean') ended(at, answer ? ADMITTED : REFUSED);
      else wait(at, answer);
    } catch (error) {
      failed(at, error);
    }
  };
  for (let at = 0; at < dueMs.length; ) {
    const nowMs = clock.nowMs();
    while (at < dueMs.length && dueMs[at] <= nowMs) ask(at++);
    if (at < dueMs.length) await clock.sleep(Math.max(TIMER_MS, dueMs[at] - clock.nowMs()));
  }
  if (waiting.size > 0) await Promise.race([Promise.allSettled(waiting), clock.sleep(patienceMs)]);
  // Copies, since answers that come later are for nobody.
  return { dueMs, endedMs: endedMs.slice(), outcomes: outcomes.slice(), failure };
}
