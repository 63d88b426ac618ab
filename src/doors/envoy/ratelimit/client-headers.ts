import type { EnvoyConfig } from '../../../config/resolved/resolved-config.js';
import { leftItem, policyItem, policyName, wholeSeconds } from '../../http/acquire/rate-limit-fields.js';
import type { Charge, Charged } from './request-decision.js';

/** Header for a client, which the gateway adds. */
export interface ClientHeader {
  readonly key: string;
  readonly value: string;
}

/** Makes the headers of one kind. */
export type ClientHeaders = (
  isOver: boolean,
  charges: readonly Charge[],
  answers: readonly Charged[],
) => readonly ClientHeader[];

/** Returns how headers are made by the setting; null = there are none. */
export function clientHeaders(kind: EnvoyConfig['headers']): ClientHeaders | null {
  if (kind === 'none') return null;
  return kind === 'ietf' ? ietfHeaders : xRateLimitHeaders;
}

/** A limited descriptor as clients are told of it. */
interface Told {
  readonly name: string;
  readonly limit: number;
  readonly windowS: number;
  readonly left: number;
  readonly isOver: boolean;
  /** Until there is more; null = not known. */
  readonly seconds: number | null;
}

/**
 * Makes RateLimit-Policy and RateLimit, as HTTP's answers have them (draft-ietf-httpapi-ratelimit-headers-11): an item
 * per limited descriptor. In a refusal only what refused has a time, which Retry-After says, too.
 */
function ietfHeaders(...answered: Parameters<ClientHeaders>): readonly ClientHeader[] {
  const [isOver] = answered;
  const told = toldOf(...answered).slice(0, ITEMS_MAX);
  if (told.length === 0) return [];
  const policies = told.map(({ name, limit, windowS }) => policyItem(name, limit, windowS, 'messages'));
  const lefts = told.map((each) => leftItem(each.name, each.left, isOver && !each.isOver ? null : each.seconds));
  const headers = [
    { key: 'ratelimit-policy', value: policies.join(', ') },
    { key: 'ratelimit', value: lefts.join(', ') },
  ];
  const waits = told.flatMap((each) => (each.isOver && each.seconds !== null ? [each.seconds] : []));
  if (isOver && waits.length > 0) headers.push({ key: 'retry-after', value: String(Math.max(...waits)) });
  return headers;
}

/**
 * Makes X-RateLimit-Limit, -Remaining and -Reset (draft 3) as Envoy does: those of the descriptor with the least left.
 *
 * *Worked:* 10 a minute and 100 an hour: `X-RateLimit-Limit: 10, 10;w=60, 100;w=3600`.
 */
function xRateLimitHeaders(...answered: Parameters<ClientHeaders>): readonly ClientHeader[] {
  const told = toldOf(...answered);
  const [first] = told;
  if (first === undefined) return [];
  const least = told.reduce((one, other) => (other.left < one.left ? other : one), first);
  const policies = told.slice(0, ITEMS_MAX).map(({ limit, windowS }) => `${Math.floor(limit)};w=${windowS}`);
  return [
    { key: 'x-ratelimit-limit', value: [Math.floor(least.limit), ...policies].join(', ') },
    { key: 'x-ratelimit-remaining', value: String(least.left) },
    { key: 'x-ratelimit-reset', value: String(least.seconds ?? 0) },
  ];
}

/** Lists the limited descriptors, those that refused first. */
function toldOf(_: boolean, charges: readonly Charge[], answers: readonly Charged[]): readonly Told[] {
  const told = answers.flatMap(({ isOver, quota, retryAfterMs }, at): Told[] => {
    const { rule, bucket } = charges[at] as Charge;
    const { limit, windowMs, remaining, resetMs } = quota;
    if (rule === null || limit === null || windowMs === null) return [];
    const left = isOver ? 0 : Math.max(0, Math.floor(remaining ?? 0));
    const seconds = isOver ? wholeSeconds(retryAfterMs) : resetMs === null ? null : Math.ceil(resetMs / 1000);
    return [
      { name: policyName(bucket, 'publish', 'messages'), limit, windowS: windowMs / 1000, left, isOver, seconds },
    ];
  });
  return told.sort((one, other) => Number(other.isOver) - Number(one.isOver));
}

/** Proxies drop answers whose headers have some KiB. */
const ITEMS_MAX = 8;
