import type { JointRequest } from '../../../core/limiter/joint-levels.js';
import type { Limiter } from '../../../core/limiter/limiter.js';

/**
 * Two numbers per group of a request: the length of its window, and the number of that window since time 0 (its epoch).
 * Both are 0 for a bucket.
 */
export type Windows = readonly number[];

export function windowsOf({ buckets }: Limiter, request: JointRequest, nowMs: number): Windows {
  if (buckets.windowMs === null) return BUCKETS;
  return [request.lane, ...request.further].flatMap((lane) => {
    const windowMs = buckets.windowOf(lane);
    return [windowMs, windowMs === 0 ? 0 : Math.floor(nowMs / windowMs)];
  });
}

/** Whether tokens that were taken from the windows `taken` may go back to the windows `now`. */
export function areSameWindows(taken: Windows, now: Windows): boolean {
  const both = Math.max(taken.length, now.length);
  for (let at = 0; at < both; at++) if ((taken[at] ?? 0) !== (now[at] ?? 0)) return false;
  return true;
}

const BUCKETS: Windows = Object.freeze([]);
