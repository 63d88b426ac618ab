import { envoy } from '../generated/messages.js';
import { decoded } from '../grpc/decoded.js';
import type { Assignment } from './assignment.js';
import type { BucketAction, BucketUsage } from './bucket-book.js';

const { RateLimitQuotaUsageReports, RateLimitQuotaResponse } = envoy.service.rate_limit_quota.v3;
const { ALLOW_ALL, DENY_ALL } = envoy.type.v3.RateLimitStrategy.BlanketRule;

export interface UsageReport {
  /** '' where an earlier report of the stream said it. */
  readonly domain: string;
  readonly usages: readonly BucketUsage[];
}

/** Reads a report. *Why not its times:* they are whole seconds, cut off. Throws GRPC_REQUEST_INVALID. */
export function readReport(bytes: Uint8Array): UsageReport {
  const { domain, bucketQuotaUsages } = decoded(RateLimitQuotaUsageReports, bytes);
  const usages = bucketQuotaUsages.map(({ bucketId, numRequestsAllowed, numRequestsDenied }) => {
    return { id: bucketId?.bucket ?? {}, allowed: Number(numRequestsAllowed), denied: Number(numRequestsDenied) };
  });
  return { domain, usages };
}

/** Writes answers, many in a message: Envoy takes 5,000 of them in 20 ms so, and in 450 ms one by one. */
export function* writeActions(actions: readonly BucketAction[], ttlMs: number): Generator<Uint8Array> {
  for (let at = 0; at < actions.length; at += ACTIONS_PER_MESSAGE) {
    const bucketAction = actions.slice(at, at + ACTIONS_PER_MESSAGE).map(({ id, assignment }) => {
      const bucketId = { bucket: id };
      if (assignment === null) return { bucketId, abandonAction: {} };
      const assignmentTimeToLive = { seconds: Math.ceil(ttlMs / 1000) };
      return { bucketId, quotaAssignmentAction: { assignmentTimeToLive, rateLimitStrategy: strategyOf(assignment) } };
    });
    yield RateLimitQuotaResponse.encode({ bucketAction }).finish();
  }
}

function strategyOf(assignment: Assignment) {
  if (assignment.kind !== 'bucket') return { blanketRule: assignment.kind === 'allow' ? ALLOW_ALL : DENY_ALL };
  const { depth, tokens, seconds } = assignment;
  return { tokenBucket: { maxTokens: depth, tokensPerFill: { value: tokens }, fillInterval: { seconds } } };
}

const ACTIONS_PER_MESSAGE = 1000;
