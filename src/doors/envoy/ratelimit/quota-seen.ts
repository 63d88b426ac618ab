import { quotaAsWritten } from '../../../config/resolved/rates-as-written.js';
import { SECONDS_OF } from '../../../config/setting/quantity.js';
import { directionIndex, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import type { QuotaTold } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';

/** Quota in messages of a bucket; null where nothing limits them. */
export interface QuotaSeen {
  readonly limit: number | null;
  readonly windowMs: number | null;
  readonly remaining: number | null;
  readonly resetMs: number | null;
}

/** Reads what a decision tells. */
export function quotaIn({ limit, windowMs, remaining, resetMs }: Partial<QuotaTold>): QuotaSeen {
  return {
    limit: limit?.messages ?? null,
    windowMs: windowMs?.messages ?? null,
    remaining: remaining?.messages ?? null,
    resetMs: resetMs?.messages ?? null,
  };
}

/** Looks at a group or key without deciding. */
export function quotaSeenAt({ gate, groups, keys }: NodeParts, bucket: string): QuotaSeen {
  const number = groups.numbers.get(bucket);
  if (number !== undefined) return quotaIn(gate.told(laneOf(number, PUBLISH)));
  const seen = keys?.known(bucket) ?? null;
  if (seen === null) return NO_QUOTA;
  if (seen.group !== null) return quotaIn(gate.told(laneOf(seen.group, PUBLISH)));
  const rate = quotaAsWritten(seen.settings, 'publish', MESSAGES);
  if (rate === null) return NO_QUOTA;
  const remaining = Math.floor(seen.remaining[PUBLISH]?.[MESSAGES] ?? 0);
  return { limit: rate.amount, windowMs: 1000 * SECONDS_OF[rate.per], remaining, resetMs: null };
}

export const NO_QUOTA: QuotaSeen = Object.freeze({ limit: null, windowMs: null, remaining: null, resetMs: null });

const PUBLISH = directionIndex('publish');
