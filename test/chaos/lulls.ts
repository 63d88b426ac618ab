import type { Call } from './clients.js';

/**
 * Longer than this and the buckets of a node that is asked for more than its share are no longer empty: they fill while nobody asks, or nobody
 * answers. Shorter lulls are within the bound of a settled cluster: 100 ms are 2 % of a window.
 */
const LULL_MS = 100;

/** Times in which calls were sent late, were answered late, or not at all; what overlaps is one. In order. */
export function lullsIn(calls: readonly Call[]): [fromMs: number, toMs: number][] {
  const late = calls
    .filter(
      ({ dueMs, endedMs, outcome }) => endedMs - dueMs > LULL_MS || (outcome !== 'granted' && outcome !== 'refused'),
    )
    .sort((one, other) => one.dueMs - other.dueMs);
  const lulls: [number, number][] = [];
  for (const { dueMs, endedMs } of late) {
    const last = lulls.at(-1);
    if (last !== undefined && dueMs <= last[1]) last[1] = Math.max(last[1], endedMs);
    else lulls.push([dueMs, endedMs]);
  }
  return lulls;
}
