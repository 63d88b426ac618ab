import { describeQuota } from '../../config/describe/describe-config.js';
import { shownRates } from '../../core/base/shown-rates.js';
import { BYTES, lanesOf, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import type { ShadowDirectionStatus, ShadowStatus } from '../api/shadow-status.js';
import { LaneSummary } from './lane-summary.js';
import type { StatusParts } from './status-parts.js';

export function describeShadow(parts: StatusParts, group: number): ShadowStatus | null {
  const { groups } = parts;
  const kind = groups.at(group).mode === 'shadow' ? 'group' : 'planned';
  const shadow = kind === 'group' ? group : groups.shadowOf(group);
  if (shadow === null) return null;
  const [publish, dispatch] = lanesOf(shadow).map((lane) => describeShadowLane(parts, new LaneSummary(parts, lane)));
  return { kind, strategy: groups.at(shadow).strategy, directions: { publish, dispatch } };
}

function describeShadowLane({ gate, limiter, clock }: StatusParts, summary: LaneSummary): ShadowDirectionStatus {
  const { lane, config, direction, quota } = summary;
  const { nodes, sums } = summary.divided;
  const { wouldRefuse, wouldGrant } = gate.shadows.counts.of(lane);
  const [messages, bytes] = [slotOf(lane, MESSAGES), slotOf(lane, BYTES)];
  return {
    quota: shownRates(quota),
    quotaAsWritten: describeQuota(config, direction),
    usage: shownRates(sums.usage),
    demand: shownRates(sums.demand),
    share: summary.local(nodes).share,
    admittedMessages: limiter.admitted.at(messages),
    admittedBytes: limiter.admitted.at(bytes),
    refusedMessages: limiter.refused.at(messages),
    refusedBytes: limiter.refused.at(bytes),
    wouldRefuse: { ...wouldRefuse },
    wouldGrant: { ...wouldGrant },
    refusedBecause: gate.shadows.refusals.of(lane, clock()),
  };
}
