import { correctedRate, setPointOf } from '../../core/account/cluster-bucket.js';
import type { SlotTokens } from '../../core/account/slot-tokens.js';
import { DIRECTIONS, MESSAGES } from '../../core/base/vocabulary.js';
import { amountOf } from '../../core/strict/budget-units.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import type { LaneSummary } from '../../node/status/lane-summary.js';
import type { BudgetLane } from '../../node/strict/budget-lanes.js';
import type { SlotLane } from '../../node/strict/slot-lanes.js';
import type { StrictLane } from '../../node/strict/strict-lanes.js';
import { type MetricRow, perDimension } from './metric.js';

/** Reads one lane; undefined = unknown here. */
type LaneReading = (lane: LaneSummary, node: NodeParts) => number | undefined;

export interface GroupMetric extends MetricRow {
  readonly read: LaneReading;
}

/** Metrics of the groups of `metrics.perGroup`; no quota, share and sum where a dimension has no quota. */
export const GROUP_METRICS: Readonly<Record<string, GroupMetric>> = {
  ...bothOf('quotamesh_group_quota_*_per_second', 'Configured quota of the cluster.', ({ quota }, at) => quota[at]),
  quotamesh_group_target_messages_per_second: groupGauge(
    'Cluster rate in force: quota, cost, backends and ramp.',
    (lane) => lane.held('target', MESSAGES),
  ),
  quotamesh_group_busy: groupGauge(
    '1 while saturated backends hold it below its quota, else 0.',
    ({ served }) => served && Number(served.isBusy),
  ),
  quotamesh_group_ramp_messages_per_second: groupGauge(
    'The rate of the ramp now: a ceiling over the target.',
    (lane) => lane.served && lane.ramp?.ceiling,
  ),
  ...bothOf(
    'quotamesh_group_cluster_tokens_*',
    'Units in the cluster’s bucket; negative = a debt. No series where each node has a gate.',
    (lane, at) => lane.bucket(at)?.tokens,
  ),
  ...bothOf(
    'quotamesh_group_cluster_depth_*',
    'Units that the cluster’s bucket holds at most.',
    (lane, at) => slotIn(lane, at)?.bucket?.depth,
  ),
  ...bothOf(
    'quotamesh_group_cluster_set_point_*',
    'Units that the cluster’s bucket returns to while it is busy.',
    setPointIn,
  ),
  ...bothOf(
    'quotamesh_group_cluster_correction_*_per_second',
    'The rate that the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
    correctionIn,
  ),
  ...bothOf(
    'quotamesh_group_charge_*',
    'The amount that this node has reported to have taken of the cluster’s bucket beyond its expected part; negative = it left as much.',
    chargeIn,
  ),
  ...bothOf('quotamesh_group_share_*_per_second', 'Share that this node applies.', (lane, at) =>
    lane.held('applied', at),
  ),
  ...bothOf('quotamesh_group_usage_*_per_second', 'Usage of this node as it was reported last.', (lane, at) =>
    lane.reported('usage', at),
  ),
  ...bothOf('quotamesh_group_demand_*_per_second', 'Demand of this node as it was reported last.', (lane, at) =>
    lane.reported('demand', at),
  ),
  ...bothOf('quotamesh_group_admitted_*_total', 'Units admitted by this node.', (lane, at) =>
    lane.counted('admitted', at),
  ),
  ...bothOf('quotamesh_group_refused_*_total', 'Units refused by this node.', (lane, at) =>
    lane.counted('refused', at),
  ),
  quotamesh_group_would_refuse_total: groupCounter(
    'Acquires granted, and messages that enforcers admitted, that the shadow of the group would have refused.',
    ofShadow((lane, { gate }) => gate.shadows.counts.of(lane).wouldRefuse.requests),
  ),
  quotamesh_group_would_grant_total: groupCounter(
    'Acquires refused at once that the shadow of the group would have granted.',
    ofShadow((lane, { gate }) => gate.shadows.counts.of(lane).wouldGrant.requests),
  ),
  quotamesh_group_held_back: groupGauge(
    'Asks and connections that wait for their turn now.',
    ({ heldBack }) => heldBack,
  ),
  ...bothOf('quotamesh_group_debt_*', 'Units that accepted work has left as debt.', (lane, at) => lane.debt(at)),
  quotamesh_group_strict_kept: groupGauge(
    '1 while this node admits by the strict bucket, 0 while it cannot know what it may spend; no series of relaxed groups.',
    ofStrict((lane, { strict }) => Number(strict.stateOf(lane) === 'kept')),
  ),
  quotamesh_group_strict_pool_messages: groupGauge(
    'Messages of the strict bucket that wait in the log: nobody holds them.',
    ofStrict(({ bucket }) => bucket.left - bucket.held),
  ),
  quotamesh_group_strict_held_messages: groupGauge(
    'Messages of the strict bucket that this node holds, and admits without asking the log.',
    ofStrict(({ bucket }) => bucket.held),
  ),
  quotamesh_group_budget_kept: budgetGauge(
    '1 while this node knows the budget, 0 while it can spend nothing; no series of groups without one.',
    (lane, { budgets }) => Number(budgets.stateOf(lane) === 'kept'),
  ),
  quotamesh_group_budget_limit: budgetGauge(
    'Units that the period may spend, with what was given beside.',
    told('limit'),
  ),
  quotamesh_group_budget_remaining: budgetGauge(
    'Units that nobody has spent: in the log, or held by this node.',
    told('remaining'),
  ),
  quotamesh_group_budget_spent: budgetGauge(
    'Units that are gone of the period: spent, held by nodes, or lost with one that was killed.',
    ({ bucket, config }) => amountOf(config.unit, bucket.budget?.gone ?? 0),
  ),
  quotamesh_group_budget_warned_ratio: budgetGauge(
    'The last threshold of budget.warnAt that the period has reached, by this node; 0 = none.',
    (_, { budgets }, group) => budgets.reachedOf(group) / 100,
  ),
  quotamesh_group_budget_lost: budgetGauge(
    'Units that killed nodes held in this period: nobody knows if they had spent them.',
    ({ bucket, config }) => amountOf(config.unit, bucket.budget?.lost ?? 0),
  ),
  quotamesh_group_budget_period_end_seconds: budgetGauge(
    'End of the period in Unix time; 0 = it never ends, or none has begun.',
    ({ bucket }) => (bucket.budget?.period?.untilMs ?? 0) / 1000,
  ),
  quotamesh_group_slots_kept: slotsGauge(
    '1 while this node knows its slots, 0 while it lets nobody in; no series of groups without concurrency.',
    (lane, { slots }) => Number(slots.stateOf(lane) === 'kept'),
  ),
  quotamesh_group_slots_limit: slotsGauge('Requests that may run at once in the cluster.', ({ bucket }) => {
    return bucket.quota.depth;
  }),
  quotamesh_group_slots_in_use: slotsGauge('Requests that hold a slot at this node.', ({ inUse }) => inUse),
  quotamesh_group_slots_held: slotsGauge('Slots that this node holds, used or free.', ({ inUse, bucket }) => {
    return inUse + bucket.held;
  }),
  quotamesh_group_slots_free: slotsGauge('Slots that nobody uses: in the log, or held here.', ({ bucket }) => {
    return Math.min(bucket.quota.depth, bucket.left);
  }),
  quotamesh_group_slots_lost_in_use: slotsGauge(
    'Requests that run here although their slots may be others’ by now.',
    ({ lost }) => lost,
  ),
  quotamesh_group_slots_entered_total: slotsCounter('Requests that took a slot here.', ({ counts }) => counts.entered),
  quotamesh_group_slots_refused_total: slotsCounter('Requests that found no slot here.', ({ counts }) => {
    return counts.refused;
  }),
  quotamesh_group_slots_lost_total: slotsCounter(
    'Slots whose node counted as dead while requests held them.',
    (lane) => {
      return lane.counts.lost;
    },
  ),
};

function bothOf(
  name: string,
  help: string,
  read: (lane: LaneSummary, dimension: number) => number | undefined,
): Record<string, GroupMetric> {
  const make = name.endsWith('_total') ? groupCounter : groupGauge;
  return perDimension(name, (dimension) => make(help, (lane) => read(lane, dimension)));
}

function groupGauge(help: string, read: LaneReading): GroupMetric {
  return { type: 'gauge', help, labels: ['group', 'direction'], read };
}

function groupCounter(help: string, read: LaneReading): GroupMetric {
  return { type: 'counter', help, labels: ['group', 'direction'], read };
}

function ofShadow(read: (lane: number, node: NodeParts) => number): LaneReading {
  return ({ lane }, node) => {
    const shadow = node.gate.shadows.shadowLaneOf(lane);
    return shadow === null ? undefined : read(shadow, node);
  };
}

function ofStrict(read: (lane: StrictLane, node: NodeParts) => number): LaneReading {
  return ({ lane }, node) => {
    const kept = node.strict.get(lane);
    return kept && read(kept, node);
  };
}

/** Metrics of a group's budget, which is one for both directions. */
function budgetGauge(help: string, read: (lane: BudgetLane, node: NodeParts, group: number) => number): GroupMetric {
  const ofBudget: LaneReading = ({ group, direction }, node) => {
    const lane = direction === DIRECTIONS[0] ? node.budgets.known(group) : undefined;
    return lane && read(lane, node, group);
  };
  return { type: 'gauge', help, labels: ['group'], read: ofBudget };
}

function told(what: 'limit' | 'remaining') {
  return (lane: BudgetLane, { budgets }: NodeParts) => budgets.told(lane)[what];
}

/** Metrics of a group's slots, which have no direction. */
function slotsGauge(help: string, read: (lane: SlotLane, node: NodeParts) => number): GroupMetric {
  return { type: 'gauge', help, labels: ['group'], read: ofSlots(read) };
}

function slotsCounter(help: string, read: (lane: SlotLane) => number): GroupMetric {
  return { type: 'counter', help, labels: ['group'], read: ofSlots(read) };
}

function ofSlots(read: (lane: SlotLane, node: NodeParts) => number): LaneReading {
  return ({ group, direction }, node) => {
    const lane = direction === DIRECTIONS[0] ? node.slots.known(group) : undefined;
    return lane && read(lane, node);
  };
}

function slotIn({ served }: LaneSummary, dimension: number): SlotTokens | undefined {
  return served?.tokens?.slots[dimension];
}

function setPointIn(lane: LaneSummary, dimension: number): number | undefined {
  const bucket = slotIn(lane, dimension)?.bucket;
  return bucket ? setPointOf(bucket) : undefined;
}

function correctionIn(lane: LaneSummary, dimension: number): number | undefined {
  const now = lane.bucket(dimension);
  return now === null ? undefined : correctedRate(now.bucket, now.tokens) - now.bucket.perSecond;
}

function chargeIn(lane: LaneSummary, dimension: number): number | undefined {
  const slot = slotIn(lane, dimension);
  return slot?.bucket ? slot.account.knownCharge : undefined;
}
