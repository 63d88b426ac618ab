import type { ChaosGroup } from './workload.js';

/**
 * The promises as the documents make them, in numbers. Nothing here is measured, and nothing is taken from the code: a node that does
 * otherwise breaks a promise.
 */

/** docs/reference/settings.md, timing.*, as they are by default. */
export const ISOLATION_AFTER_MS = 3000;
export const PARTITION_HEARTBEAT_MS = 5000;
export const STALENESS_MS = 5000;
export const SHARE_VALID_MS = 4000;
export const HEARTBEAT_MS = 1000;

/** docs/operate/when-the-topic-is-away.md: shares follow the log again this long after what was away is up again. */
export const BACK_WITHIN_MS = 5000;

/** The window of a settled cluster's bound. */
export const WINDOW_MS = 5000;

/** docs/operate/when-the-topic-is-away.md: most over any 5 s, in quotas, while nobody is away and shares are settled. */
export const STEADY_QUOTAS = 1.02;

/** docs/reference/glossary.md, delivery: at most so long where nothing is wrong, on a machine that does much else. */
export const DELIVERY_MS = 1000;

/**
 * What a node admits by, this long after it last heard itself: its share until it has let go, then what the policy leaves of it.
 *
 * @param held per second, when it last followed the log
 * @param noticesAfterMs when it knows that it is cut off
 */
export function keptAfter(
  group: ChaosGroup,
  held: number,
  deafMs: number,
  noticesAfterMs: number,
  nodes: number,
): number {
  const { policy, holdMs } = group.isolation;
  if (deafMs <= Math.max(holdMs, noticesAfterMs)) return held;
  return policy === 'closed' ? 0 : Math.min(held, group.quota / nodes);
}
