import { correctedRate, setPointOf } from '../../core/account/cluster-bucket.js';
import type { SlotTokens } from '../../core/account/slot-tokens.js';
import { BYTES, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import type { NodeParts } from '../../node/loop/node-parts.js';
import type { LaneSummary } from '../../node/status/lane-summary.js';
import type { MetricRow } from './metric.js';

/** Reads one lane; undefined = unknown here. */
type LaneReading = (lane: LaneSummary, node: NodeParts) => number | undefined;

export interface GroupMetric extends MetricRow {
  readonly read: LaneReading;
}

/** Metrics of the groups of `metrics.perGroup`; no quota, share, limit and sum where a dimension has no quota. */
export const GROUP_METRICS: Readonly<Record<string, GroupMetric>> = {
  quotamesh_group_quota_messages_per_second: groupGauge(
    'Configured quota of the cluster.',
    ({ quota }) => quota[MESSAGES],
  ),
  quotamesh_group_quota_bytes_per_second: groupGauge('Configured quota of the cluster.', ({ quota }) => quota[BYTES]),
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
  quotamesh_group_cluster_tokens_messages: groupGauge(
    'Messages in the cluster’s bucket; negative = a debt. No series where each node has a gate.',
    (lane) => lane.bucket(MESSAGES)?.tokens,
  ),
  quotamesh_group_cluster_tokens_bytes: groupGauge(
    'Bytes in the cluster’s bucket; negative = a debt. No series where each node has a gate.',
    (lane) => lane.bucket(BYTES)?.tokens,
  ),
  quotamesh_group_cluster_depth_messages: groupGauge(
    'Messages that the cluster’s bucket holds at most.',
    (lane) => slotIn(lane, MESSAGES)?.bucket?.depth,
  ),
  quotamesh_group_cluster_depth_bytes: groupGauge(
    'Bytes that the cluster’s bucket holds at most.',
    (lane) => slotIn(lane, BYTES)?.bucket?.depth,
  ),
  quotamesh_group_cluster_set_point_messages: groupGauge(
    'Messages that the cluster’s bucket returns to while it is busy.',
    (lane) => setPointIn(lane, MESSAGES),
  ),
  quotamesh_group_cluster_set_point_bytes: groupGauge(
    'Bytes that the cluster’s bucket returns to while it is busy.',
    (lane) => setPointIn(lane, BYTES),
  ),
  quotamesh_group_cluster_correction_messages_per_second: groupGauge(
    'The rate that the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
    (lane) => correctionIn(lane, MESSAGES),
  ),
  quotamesh_group_cluster_correction_bytes_per_second: groupGauge(
    'The rate that the cluster is given beyond the target, because its bucket is above the set point; negative = below.',
    (lane) => correctionIn(lane, BYTES),
  ),
  quotamesh_group_charge_messages: groupGauge(
    'The amount that this node has reported to have taken of the cluster’s bucket beyond its expected part; negative = it left as much.',
    (lane) => chargeIn(lane, MESSAGES),
  ),
  quotamesh_group_charge_bytes: groupGauge(
    'The amount that this node has reported to have taken of the cluster’s bucket beyond its expected part; negative = it left as much.',
    (lane) => chargeIn(lane, BYTES),
  ),
  quotamesh_group_share_messages_per_second: groupGauge('Share that this node applies.', (lane) =>
    lane.held('applied', MESSAGES),
  ),
  quotamesh_group_share_bytes_per_second: groupGauge('Share that this node applies.', (lane) =>
    lane.held('applied', BYTES),
  ),
  quotamesh_group_limit_messages_per_second: groupGauge(
    'The rate that a gate enforces; where the cluster has a bucket, that decides.',
    (lane) => lane.held('applied', MESSAGES),
  ),
  quotamesh_group_limit_bytes_per_second: groupGauge(
    'The rate that a gate enforces; where the cluster has a bucket, that decides.',
    (lane) => lane.held('applied', BYTES),
  ),
  quotamesh_group_share_sum_messages_per_second: groupGauge(
    'Σ of all nodes’ shares as this node sees it.',
    (lane) => lane.served && lane.sums.share[MESSAGES],
  ),
  quotamesh_group_share_sum_bytes_per_second: groupGauge(
    'Σ of all nodes’ shares as this node sees it.',
    (lane) => lane.served && lane.sums.share[BYTES],
  ),
  quotamesh_group_usage_messages_per_second: groupGauge('Usage of this node as it was reported last.', (lane) =>
    lane.reported('usage', MESSAGES),
  ),
  quotamesh_group_usage_bytes_per_second: groupGauge('Usage of this node as it was reported last.', (lane) =>
    lane.reported('usage', BYTES),
  ),
  quotamesh_group_demand_messages_per_second: groupGauge('Demand of this node as it was reported last.', (lane) =>
    lane.reported('demand', MESSAGES),
  ),
  quotamesh_group_demand_bytes_per_second: groupGauge('Demand of this node as it was reported last.', (lane) =>
    lane.reported('demand', BYTES),
  ),
  quotamesh_group_admitted_messages_total: groupCounter('Messages admitted by this node.', (lane) =>
    lane.counted('admitted', MESSAGES),
  ),
  quotamesh_group_admitted_bytes_total: groupCounter('Bytes admitted by this node.', (lane) =>
    lane.counted('admitted', BYTES),
  ),
  quotamesh_group_refused_messages_total: groupCounter('Messages refused by this node.', (lane) =>
    lane.counted('refused', MESSAGES),
  ),
  quotamesh_group_refused_bytes_total: groupCounter('Bytes refused by this node.', (lane) =>
    lane.counted('refused', BYTES),
  ),
  quotamesh_group_refusals_total: groupCounter('Acquires refused by this node for the quota.', ({ lane }, { gate }) =>
    gate.shadows.inForce.refusedOnce.at(lane),
  ),
  quotamesh_group_would_refuse_total: groupCounter(
    'Acquires granted, and messages that enforcers admitted, that the shadow of the group would have refused.',
    ofShadow((lane, { gate }) => gate.shadows.counts.of(lane).wouldRefuse.requests),
  ),
  quotamesh_group_would_refuse_messages_total: groupCounter(
    'Messages of those.',
    ofShadow((lane, { gate }) => gate.shadows.counts.of(lane).wouldRefuse.messages),
  ),
  quotamesh_group_would_grant_total: groupCounter(
    'Acquires refused at once that the shadow of the group would have granted.',
    ofShadow((lane, { gate }) => gate.shadows.counts.of(lane).wouldGrant.requests),
  ),
  quotamesh_group_shadow_admitted_messages_total: groupCounter(
    'Messages that the shadow of the group has admitted.',
    ofShadow((lane, { limiter }) => limiter.admitted.at(slotOf(lane, MESSAGES))),
  ),
  quotamesh_group_shadow_refused_messages_total: groupCounter(
    'Messages that the shadow of the group has refused.',
    ofShadow((lane, { limiter }) => limiter.refused.at(slotOf(lane, MESSAGES))),
  ),
  quotamesh_group_held_back: groupGauge(
    'Asks and connections that wait for their turn now.',
    ({ heldBack }) => heldBack,
  ),
  quotamesh_group_debt_messages: groupGauge('Messages that accepted work has left as debt.', (lane) =>
    lane.debt(MESSAGES),
  ),
  quotamesh_group_debt_bytes: groupGauge('Bytes that accepted work has left as debt.', (lane) => lane.debt(BYTES)),
};

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
