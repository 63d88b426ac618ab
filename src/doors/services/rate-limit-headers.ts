import type { Decision, PerDimension, Refused, Where } from '../../node/api/decision.js';
import type { QuotaNode } from '../../node/api/quota-node.js';
import { leftItem, policyItem, policyName, wholeSeconds } from '../http/acquire/rate-limit-items.js';

export type HeaderStyle = 'draft' | 'x' | 'both' | 'none';

/** Decision, and whose. */
export interface NamedDecision<Made extends Decision> {
  readonly node: QuotaNode;
  readonly where: Where;
  readonly direction: 'publish' | 'dispatch';
  readonly decision: Made;
}

/** Writes the headers of a decision, as POST /v1/acquire does; none without a quota. */
export function rateLimitHeaders(named: NamedDecision<Decision>, style: HeaderStyle): Record<string, string> {
  const { limit, windowMs, remaining, resetMs } = named.decision;
  if (style === 'none' || limit === undefined || windowMs === undefined) return {};
  const told = { limit, windowMs, remaining: remaining ?? NONE, resetMs: resetMs ?? NONE };
  const headers: Record<string, string> = {};
  if (style !== 'x') addDraft(headers, named, told);
  if (style !== 'draft') addX(headers, named, told);
  return headers;
}

interface Told {
  readonly limit: PerDimension;
  readonly windowMs: PerDimension;
  readonly remaining: PerDimension;
  readonly resetMs: PerDimension;
}

const NONE: PerDimension = { messages: null, bytes: null };
const DIMENSIONS = ['messages', 'bytes'] as const;

/** Adds RateLimit fields; in a refusal only the item that refused carries t, equal to Retry-After. */
function addDraft(headers: Record<string, string>, named: NamedDecision<Decision>, told: Told): void {
  const refused = refusedOf(named.decision);
  const violated = refused === null ? null : policyNameOf(named, refused.dimension, refused.level);
  const policies: string[] = [];
  const left: string[] = [];
  let isTold = refused === null;
  for (const dimension of DIMENSIONS) {
    const amount = told.limit[dimension];
    if (amount === null) continue;
    const name = policyNameOf(named, dimension);
    const resetMs = told.resetMs[dimension];
    const seconds = refused === null ? (resetMs === null ? null : Math.ceil(resetMs / 1000)) : null;
    policies.push(policyItem(name, amount, (told.windowMs[dimension] ?? 1000) / 1000, dimension));
    left.push(leftItem(name, told.remaining[dimension] ?? 0, name === violated ? secondsOf(refused) : seconds));
    isTold ||= name === violated;
  }
  if (violated !== null && !isTold) left.push(leftItem(violated, 0, secondsOf(refused)));
  if (policies.length > 0) headers['ratelimit-policy'] = policies.join(', ');
  if (left.length > 0) headers.ratelimit = left.join(', ');
}

/** Adds X-RateLimit of the dimension that refused, else of messages if limited; Reset in seconds. */
function addX(headers: Record<string, string>, { decision }: NamedDecision<Decision>, told: Told): void {
  const refused = refusedOf(decision);
  const dimension = refused?.dimension ?? (told.limit.messages === null ? 'bytes' : 'messages');
  const amount = told.limit[dimension];
  if (amount === null) return;
  const resetMs = told.resetMs[dimension];
  headers['x-ratelimit-limit'] = `${amount}`;
  headers['x-ratelimit-remaining'] = `${refused === null ? (told.remaining[dimension] ?? 0) : 0}`;
  if (refused !== null) headers['x-ratelimit-reset'] = `${secondsOf(refused)}`;
  else if (resetMs !== null) headers['x-ratelimit-reset'] = `${Math.ceil(resetMs / 1000)}`;
}

/** Names a policy `orders-publish-messages`, or after the level of a fixed limit. */
export function policyNameOf(
  { where, direction, decision }: NamedDecision<Decision>,
  dimension: 'messages' | 'bytes',
  level: Refused['level'] = 'group',
): string {
  if (level === 'node') return `node-${direction}-${dimension}`;
  const group = refusedOf(decision)?.group ?? (typeof where === 'string' ? where : 'quota');
  return policyName(group, direction, dimension, ...(level === 'group' ? [] : [`per-${level}`]));
}

function refusedOf(decision: Decision): Refused | null {
  return !decision.granted && decision.reason === 'quota' ? decision : null;
}

function secondsOf(refused: Refused | null): number {
  return wholeSeconds(refused?.retryAfterMs ?? 0);
}
