import type { Direction, Rates } from '../../core/base/vocabulary.js';
import type { GroupConfig } from './resolved-config.js';

/**
 * Largest amounts of one request: what is configured, or else ten seconds of the quota (its window, if that is longer)
 * and at least one piece of work. So one request cannot put a small quota into minutes of debt. Worked: 5/s and 1 KiB/s
 * → 50 messages, 64 KiB. Without a quota there is no debt, and with a quota of 0 nothing is admitted; in both cases
 * only absurd amounts are refused.
 */
export function maxRequestOf(
  { quota, maxRequest, limiter, windowMs }: Pick<GroupConfig, 'quota' | 'maxRequest' | 'limiter' | 'windowMs'>,
  direction: Direction,
): Rates {
  const [messages, bytes] = quota[direction];
  const seconds = limiter === 'window' ? Math.max(SECONDS, windowMs / 1000) : SECONDS;
  return [
    maxRequest.messages ?? derived(messages * seconds, { piece: 1, without: 1e6 }),
    maxRequest.bytes ?? derived(bytes * seconds, { piece: 65_536, without: 2 ** 30 }),
  ];
}

const SECONDS = 10;

function derived(most: number, { piece, without }: { piece: number; without: number }): number {
  if (most === Number.POSITIVE_INFINITY || most === 0) return without;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(piece, Math.floor(most)));
}
