import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { BYTES, directionIndex, laneOf } from '../../../core/base/vocabulary.js';
import type { Gate } from '../../../node/admission/gate.js';
import type { GroupTable } from '../../../node/groups/group-table.js';
import type { DescriptorRule, DescriptorRules } from '../rules/descriptor-rules.js';
import type { UnknownDomains } from '../rules/unknown-domains.js';
import type { Target } from './bucket.js';
import { type BucketId, type IdEntry, ordersOf } from './bucket-id.js';

export interface TargetParts {
  readonly gate: Gate;
  readonly groups: GroupTable;
  readonly rules: DescriptorRules;
  readonly domains: UnknownDomains;
}

/**
 * Finds the lane of a bucket: the id is read as a descriptor, in the first order that a rule has. What no rule limits,
 * passes; of an unknown domain by the setting.
 */
export function bucketTarget({ gate, groups, rules, domains }: TargetParts, domain: string, id: BucketId): Target {
  const found = firstRule(rules, domain, id);
  if (found === null) return { kind: domains.isUnknown(domain) && domains.areRefused ? 'deny' : 'allow' };
  const { rule, entries } = found;
  if (rule.isUnlimited) return { kind: 'allow' };
  try {
    const lane = laneOf(gate.groupIndex(rule.bucketOf(domain, entries)), PUBLISH);
    const { name, quota } = groups.ofLane(lane);
    if (quota.publish[BYTES] < Infinity)
      return { kind: 'none', reason: `group ${name} limits bytes, and Envoy counts requests` };
    const unable = keptIn(gate, lane, name);
    if (unable !== null)
      return { kind: 'none', reason: `group ${name} ${unable}, and Envoy spends a share without asking the log` };
    return { kind: 'lane', lane };
  } catch (error) {
    if (error instanceof QuotameshError) return { kind: 'none', reason: error.message };
    throw error;
  }
}

/** Says what a group has that no share may spend; null = nothing. */
function keptIn(gate: Gate, lane: number, name: string): string | null {
  if (gate.strict.keeps({ lane, further: [] })) return 'is strict';
  if (gate.budgetUnitOf(name) !== null) return 'has a budget';
  return gate.slotsOf(name) === null ? null : 'limits concurrency';
}

function firstRule(rules: DescriptorRules, domain: string, id: BucketId): Found | null {
  for (const entries of ordersOf(id)) {
    const rule = rules.find(domain, entries);
    if (rule !== null) return { rule, entries };
  }
  return null;
}

interface Found {
  readonly rule: DescriptorRule;
  readonly entries: readonly IdEntry[];
}

const PUBLISH = directionIndex('publish');
