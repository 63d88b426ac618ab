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

/** docs/operate/when-the-topic-is-away.md: shares follow the log again this long after what was away is up again. */
export const BACK_WITHIN_MS = 5000;

/** The window of every bound. */
export const WINDOW_MS = 5000;

/** docs/operate/when-the-topic-is-away.md: most over any 5 s, in quotas, while nobody is away and shares are settled. */
export const STEADY_QUOTAS = 1.02;

/** docs/decisions/0004: 100 ms of the limit, or 20 pieces of work bounded by a quarter second of target / N, or up to two pieces. */
const BURST_SECONDS = 0.1;
const BURST_MIN_PIECES = 20;
const BURST_BOUND_SECONDS = 0.25;
const SECOND_PIECE_SECONDS = 0.5;

/** What all buckets of a group hold together at most: one node has the whole quota as its limit, the others the minimum. */
export function burstOf({ quota }: ChaosGroup, nodes: number): number {
  const equal = quota / nodes;
  const small = 1 + Math.min(1, equal * SECOND_PIECE_SECONDS);
  const minimum = Math.min(BURST_MIN_PIECES, Math.max(small, equal * BURST_BOUND_SECONDS));
  return Math.max(quota * BURST_SECONDS, minimum) + (nodes - 1) * minimum;
}

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
