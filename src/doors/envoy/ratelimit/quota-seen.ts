import { quotaAsWritten } from '../../../config/resolved/rates-as-written.js';
import { SECONDS_OF } from '../../../config/setting/quantity.js';
import { directionIndex, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import { fullInMs, unitsLeft } from '../../../node/admission/decide/units-left.js';
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
export function quotaSeenAt(node: NodeParts, bucket: string): QuotaSeen {
  const number = node.groups.numbers.get(bucket);
  if (number !== undefined) return quotaOf(node, number);
  const seen = node.keys?.known(bucket) ?? null;
  if (seen === null) return NO_QUOTA;
  if (seen.group !== null) return quotaOf(node, seen.group);
  const rate = quotaAsWritten(seen.settings, 'publish', MESSAGES);
  if (rate === null) return NO_QUOTA;
  const remaining = Math.floor(seen.remaining[PUBLISH]?.[MESSAGES] ?? 0);
  return { limit: rate.amount, windowMs: 1000 * SECONDS_OF[rate.per], remaining, resetMs: null };
}

/** Reads one dimension: `gate.told` makes objects of both, five times the work. */
function quotaOf(node: NodeParts, group: number): QuotaSeen {
  const lane = laneOf(group, PUBLISH);
  const rate = quotaAsWritten(node.groups.ofLane(lane), 'publish', MESSAGES);
  if (rate === null) return NO_QUOTA;
  const nowMs = node.clock();
  const full = fullInMs(node, lane, MESSAGES, nowMs);
  return {
    limit: rate.amount,
    windowMs: 1000 * SECONDS_OF[rate.per],
    remaining: unitsLeft(node, lane, MESSAGES, nowMs),
    resetMs: full === Infinity ? null : Math.ceil(full),
  };
}

export const NO_QUOTA: QuotaSeen = Object.freeze({ limit: null, windowMs: null, remaining: null, resetMs: null });

const PUBLISH = directionIndex('publish');
