import { describeQuota } from '../../../config/describe/describe-config.js';
import { shownRates } from '../../../core/base/shown-rates.js';
import { DIRECTIONS, type Direction, laneOf, type Rates, slotOf } from '../../../core/base/vocabulary.js';
import type { QuotaAsWritten, RateStatus } from '../../../node/api/node-status.js';
import { originOf } from '../../../node/groups/registry/describe-registry.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'groups' | 'registry' | 'loop'>;

export interface GroupSummary {
  readonly group: string;
  readonly strategy: string;
  readonly origin: 'yaml' | 'run-time';
  readonly revision: number;
  readonly publish: DirectionSummary;
  readonly dispatch: DirectionSummary;
}

/**
 * What this node knows of itself. The figures of the other nodes are left to `/v1/groups/{group}`, because they take a
 * computation of all shares of a group.
 */
export interface DirectionSummary {
  readonly quota: RateStatus;
  readonly quotaAsWritten: QuotaAsWritten;
  readonly served: boolean;
  readonly share: RateStatus;
  readonly limit: RateStatus;
  /** What the nodes told last; of silent keys with a heartbeat. */
  readonly usage: RateStatus;
  readonly demand: RateStatus;
}

export function summarizeGroup(node: UsedParts, group: number): GroupSummary {
  const config = node.groups.at(group);
  const [publish, dispatch] = DIRECTIONS.map((direction) => summarizeDirection(node, group, direction));
  return {
    group: config.name,
    strategy: config.strategy,
    ...originOf(node, config.name),
    publish: publish,
    dispatch: dispatch,
  };
}

function summarizeDirection(node: UsedParts, group: number, direction: Direction): DirectionSummary {
  const config = node.groups.at(group);
  const lane = laneOf(group, DIRECTIONS.indexOf(direction));
  const state = node.loop.coordinator?.lanes.get(lane);
  const shares = state === undefined ? undefined : node.loop.coordinator?.shares;
  return {
    quota: shownRates(config.quota[direction]),
    quotaAsWritten: describeQuota(config, direction),
    served: state !== undefined,
    share: shownRates(pairAt(shares?.applied, slotOf(lane, 0))),
    limit: shownRates(pairAt(shares?.limit, slotOf(lane, 0))),
    usage: shownRates(pairAt(state?.reported.usage, 0)),
    demand: shownRates(pairAt(state?.reported.demand, 0)),
  };
}

function pairAt(column: Float64Array | undefined, at: number): Rates {
  return [column?.[at] ?? 0, column?.[at + 1] ?? 0];
}
