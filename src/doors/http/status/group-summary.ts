import { describeQuota } from '../../../config/describe/describe-config.js';
import { shownRates } from '../../../core/base/shown-rates.js';
import { BYTES, lanesOf, MESSAGES } from '../../../core/base/vocabulary.js';
import type { QuotaAsWritten, RateStatus } from '../../../node/api/node-status.js';
import { originOf } from '../../../node/groups/registry/describe-registry.js';
import { LaneSummary } from '../../../node/status/lane-summary.js';
import type { StatusParts } from '../../../node/status/status-parts.js';

export interface GroupSummary {
  readonly group: string;
  readonly strategy: string;
  readonly origin: 'yaml' | 'run-time';
  readonly revision: number;
  readonly publish: DirectionSummary;
  readonly dispatch: DirectionSummary;
}

/** Status of a direction at this node; others' figures, in `/v1/groups/{group}`, cost all shares of a group. */
export interface DirectionSummary {
  readonly quota: RateStatus;
  readonly quotaAsWritten: QuotaAsWritten;
  readonly served: boolean;
  readonly share: RateStatus;
  readonly limit: RateStatus;
  readonly usage: RateStatus;
  readonly demand: RateStatus;
}

export function summarizeGroup(node: StatusParts, group: number): GroupSummary {
  const { name, strategy } = node.groups.at(group);
  const [publish, dispatch] = lanesOf(group).map((lane) => summarizeLane(new LaneSummary(node, lane)));
  return { group: name, strategy, ...originOf(node, name), publish, dispatch };
}

function summarizeLane(lane: LaneSummary): DirectionSummary {
  const rates = (read: (dimension: number) => number | undefined) => {
    return shownRates([read(MESSAGES) ?? 0, read(BYTES) ?? 0]);
  };
  return {
    quota: shownRates(lane.quota),
    quotaAsWritten: describeQuota(lane.config, lane.direction),
    served: lane.served !== undefined,
    share: rates((dimension) => lane.held('applied', dimension)),
    limit: rates((dimension) => lane.held('limit', dimension)),
    usage: rates((dimension) => lane.reported('usage', dimension)),
    demand: rates((dimension) => lane.reported('demand', dimension)),
  };
}
