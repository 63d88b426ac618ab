import type { JointRequest } from '../../../core/limiter/joint-levels.js';
import type { Limiter } from '../../../core/limiter/limiter.js';

/** Length and number since time 0 (epoch) of the window of each group of a request; 0 of a bucket. */
export type Windows = readonly number[];

export function windowsOf({ buckets }: Limiter, request: JointRequest, nowMs: number): Windows {
  if (buckets.windowMs === null) return BUCKETS;
  return [request.lane, ...request.further].flatMap((lane) => {
    const windowMs = buckets.windowOf(lane);
    return [windowMs, windowMs === 0 ? 0 : Math.floor(nowMs / windowMs)];
  });
}

/** Tests if tokens of the windows `taken` may go back to the windows `now`. */
export function areSameWindows(taken: Windows, now: Windows): boolean {
  const both = Math.max(taken.length, now.length);
  for (let at = 0; at < both; at++) if ((taken[at] ?? 0) !== (now[at] ?? 0)) return false;
  return true;
}

const BUCKETS: Windows = Object.freeze([]);
