import { type GateName, hasClusterBucket } from '../../core/base/local-gate.js';
import { depthGiven } from '../../core/base/settings.js';
import { BYTES, type Direction, directionIndex, MESSAGES, type Rates, UNLIMITED } from '../../core/base/vocabulary.js';
import type { GroupConfig } from './resolved-config.js';

/**
 * Largest amounts of one request: what is configured, or else ten seconds of the quota (its window, if that is longer)
 * and at least one piece of work, and a whole burst of the cluster's bucket. So one request cannot put a small
 * quota into minutes of debt. Worked: 5/s and 1 KiB/s → 50 messages, 64 KiB. Without a quota there is no debt, and with
 * a quota of 0 nothing is admitted; in both cases only absurd amounts are refused.
 */
export function maxRequestOf(
  group: Pick<GroupConfig, 'quota' | 'maxRequest' | 'limiter' | 'windowMs' | 'burst' | GateName>,
  direction: Direction,
): Rates {
  const { quota, maxRequest, limiter, windowMs } = group;
  const [messages, bytes] = quota[direction];
  const burstOf = (dimension: number) =>
    hasClusterBucket(group) ? (depthGiven(group.burst, directionIndex(direction), dimension) ?? 0) : 0;
  const seconds = limiter === 'window' ? Math.max(SECONDS, windowMs / 1000) : SECONDS;
  return [
    maxRequest.messages ?? derived(messages * seconds, { least: Math.max(1, burstOf(MESSAGES)), without: 1e6 }),
    maxRequest.bytes ?? derived(bytes * seconds, { least: Math.max(65_536, burstOf(BYTES)), without: 2 ** 30 }),
  ];
}

/** Largest amounts of one request that is not a mistake: a group that refuses nothing derives none from its quota. */
export function allowedRequestOf(
  group: Pick<GroupConfig, 'mode' | 'quota' | 'maxRequest' | 'limiter' | 'windowMs' | 'burst' | GateName>,
  direction: Direction,
): Rates {
  return maxRequestOf(group.mode === 'shadow' ? { ...group, quota: NO_QUOTA } : group, direction);
}

const NO_QUOTA = { publish: UNLIMITED, dispatch: UNLIMITED };
const SECONDS = 10;

function derived(most: number, { least, without }: { least: number; without: number }): number {
  if (most === Infinity || most === 0) return without;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.floor(Math.max(least, most)));
}
