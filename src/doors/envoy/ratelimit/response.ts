import { SECONDS_OF } from '../../../config/setting/quantity.js';
import { envoy } from '../generated/messages.js';
import { joinedMetadata, type RuleMetadata, structOf } from '../rules/rule-metadata.js';
import type { ClientHeaders } from './client-headers.js';
import type { Charge, Charged } from './request-decision.js';

const { RateLimitResponse } = envoy.service.ratelimit.v3;
const { OK, OVER_LIMIT } = RateLimitResponse.Code;
const { Unit } = RateLimitResponse.RateLimit;
type Status = envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus.$Properties;

/**
 * Encodes the answer: a status per descriptor; as dynamic metadata who refused, and what rules say that let pass.
 */
export function encodedAnswer(
  isOver: boolean,
  charges: readonly Charge[],
  answers: readonly Charged[],
  headers: ClientHeaders | null,
): Uint8Array {
  const overallCode = isOver ? OVER_LIMIT : OK;
  const statuses = answers.map((answer, at) => statusOf(charges[at] as Charge, answer));
  const added = headers === null ? {} : { responseHeadersToAdd: [...headers(isOver, charges, answers)] };
  const metadata = metadataOf(charges, answers);
  if (!isOver && metadata === null) return RateLimitResponse.encode({ overallCode, statuses, ...added }).finish();
  const passed = metadata === null ? {} : { metadata: { structValue: structOf(metadata) } };
  const dynamicMetadata = { fields: { ...(isOver && refusalOf(charges, answers)), ...passed } };
  return RateLimitResponse.encode({ overallCode, statuses, ...added, dynamicMetadata }).finish();
}

function statusOf({ rule }: Charge, { isOver, quota, retryAfterMs }: Charged): Status {
  const code = isOver ? OVER_LIMIT : OK;
  const { limit, windowMs, remaining, resetMs } = quota;
  if (limit === null) return { code, limitRemaining: isOver ? 0 : UINT32_MAX };
  const unit = (windowMs === null ? undefined : UNIT_OF[windowMs]) ?? Unit.UNKNOWN;
  const name = rule?.label || rule?.name || '';
  const resetsMs = isOver ? retryAfterMs : resetMs;
  return {
    code,
    currentLimit: { requestsPerUnit: uint32(limit), unit, name },
    limitRemaining: isOver ? 0 : uint32(remaining ?? 0),
    ...(resetsMs === null ? {} : { durationUntilReset: { seconds: Math.ceil(resetsMs / 1000) } }),
  };
}

/** Names the first rule and bucket over their limit, for access logs. */
function refusalOf(charges: readonly Charge[], answers: readonly Charged[]) {
  const at = answers.findIndex(({ isOver }) => isOver);
  const { rule, bucket } = charges[at] as Charge;
  return {
    rule: { stringValue: rule?.name ?? 'unknown domain' },
    place: { stringValue: rule?.at ?? '' },
    bucket: { stringValue: bucket },
    retryAfterMs: { numberValue: answers[at]?.retryAfterMs ?? 0 },
  };
}

/** Joins the metadata of the rules that let their descriptors pass; null = they have none. */
function metadataOf(charges: readonly Charge[], answers: readonly Charged[]): RuleMetadata | null {
  let joined: RuleMetadata | null = null;
  for (let at = 0; at < answers.length; at++) {
    const metadata = charges[at]?.rule?.metadata ?? null;
    if (metadata === null || answers[at]?.isOver === true) continue;
    joined = joined === null ? metadata : joinedMetadata(joined, metadata);
  }
  return joined;
}

function uint32(amount: number): number {
  return Math.min(UINT32_MAX, Math.max(0, Math.floor(amount)));
}

const UINT32_MAX = 2 ** 32 - 1;
const UNIT_OF: Readonly<Record<number, number>> = {
  [1000 * SECONDS_OF.second]: Unit.SECOND,
  [1000 * SECONDS_OF.minute]: Unit.MINUTE,
  [1000 * SECONDS_OF.hour]: Unit.HOUR,
  [1000 * SECONDS_OF.day]: Unit.DAY,
  [1000 * SECONDS_OF.week]: Unit.WEEK,
  [1000 * SECONDS_OF.month]: Unit.MONTH,
  [1000 * SECONDS_OF.year]: Unit.YEAR,
};
