import { quotaAsWritten } from '../../../config/resolved/rates-as-written.js';
import { SECONDS_OF } from '../../../config/setting/quantity.js';
import { directionIndex, laneOf, MESSAGES } from '../../../core/base/vocabulary.js';
import { fullInMs, unitsLeft } from '../../../node/admission/decide/units-left.js';
import type { QuotaTold } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { BudgetLane } from '../../../node/strict/budget-lanes.js';

/** Quota in messages of a bucket, or its budget; null where nothing limits it. */
export interface QuotaSeen {
  readonly limit: number | null;
  /** Null beside a limit = it never ends. */
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
  if (number !== undefined) return budgetSeen(node, node.budgets.known(number)) ?? quotaOf(node, number);
  const seen = node.keys?.known(bucket) ?? null;
  if (seen === null) return NO_QUOTA;
  const { budget } = seen.settings;
  if (budget !== null) return budgetSeen(node, node.budgets.ofKey(bucket, budget)) ?? NO_QUOTA;
  if (seen.group !== null) return quotaOf(node, seen.group);
  const rate = quotaAsWritten(seen.settings, 'publish', MESSAGES);
  if (rate === null) return NO_QUOTA;
  const remaining = Math.floor(seen.remaining[PUBLISH]?.[MESSAGES] ?? 0);
  return { limit: rate.amount, windowMs: 1000 * SECONDS_OF[rate.per], remaining, resetMs: null };
}

function budgetSeen({ budgets }: NodeParts, lane: BudgetLane | undefined): QuotaSeen | null {
  if (lane === undefined) return null;
  const { limit, remaining, resetMs } = budgets.told(lane);
  const { per } = lane.config;
  return { limit, windowMs: per === 'total' ? null : 1000 * SECONDS_OF[per], remaining, resetMs };
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
