import type { RefusalCount } from '../admission/decide/refusal-ledger.js';
import type { DirectionStatus, RampStatus, RateStatus } from '../api/node-status.js';
import { groupIdOf } from '../core/base/ids.js';
import { BYTES, DIRECTIONS, type Direction, laneOf, MESSAGES } from '../core/base/vocabulary.js';
import type { LaneTarget } from '../core/target/target-book.js';
import type { Binding } from '../core/target/target-rate.js';
import { HEALTHY } from '../core/target/throttling-ratio.js';
import type { QuotaNode } from '../node/quota-node.js';
import { describeGroup } from './describe-node.js';

/** Why a group may do what it may do now: every input of the decision, in the order in which they are used. */
export interface GroupExplanation {
  readonly group: string;
  readonly node: string;
  readonly strategy: string;
  readonly directions: Readonly<Record<Direction, DirectionExplanation>>;
}

/** Rates per second; null = none (unlimited). Cost in cost units. */
export interface DirectionExplanation {
  readonly quota: RateStatus & {
    readonly costPerSecond: number | null;
    readonly reservedCostPerSecond: number;
  };
  /** Of all nodes, as they reported last. */
  readonly usage: RateStatus;
  readonly demand: RateStatus;
  readonly cost: {
    readonly transactionsPerSecond: number;
    readonly costPerSecond: number;
    /** Cost units per message; expectedCost until costs are reported. */
    readonly average: number;
    readonly expected: number;
  };
  readonly reserved: number;
  readonly desired: number | null;
  readonly limiting: LimitingExplanation;
  /** messages/s before and after the mode: report-only does not enforce it. */
  readonly target: number | null;
  readonly binding: Binding;
  readonly busy: boolean;
  /** A ceiling over the target while it climbs; null = none. */
  readonly ramp: RampStatus | null;
  readonly inForce: RateStatus;
  readonly shareSum: RateStatus;
  readonly local: LocalExplanation;
}

export interface LimitingExplanation {
  readonly mode: string;
  readonly split: string;
  readonly rate: number | null;
  /** What backends never take away. */
  readonly minimum: number;
  /** The zone and backend that decide; null = nothing limits. */
  readonly deciding: ZoneExplanation | null;
  readonly leftOut: readonly ZoneExplanation[];
  readonly backends: readonly {
    readonly backend: string;
    readonly zone: string;
    readonly throttlingRatio: number | null;
    readonly costPerSecond: number;
  }[];
}

export interface ZoneExplanation {
  readonly zone: string;
  readonly backend: string;
  readonly rate: number;
}

export interface LocalExplanation {
  readonly served: boolean;
  readonly link: string;
  readonly share: RateStatus;
  /** What may be taken above the share for noise: limit − share. */
  readonly allowance: RateStatus;
  readonly limit: RateStatus;
  /** In the bucket now. */
  readonly tokens: { readonly messages: number | null; readonly bytes: number | null };
  readonly refusals: number;
  readonly refusedMessages: number;
  readonly refusedBytes: number;
  /** Why, by level, dimension and reason; the newest first. */
  readonly refusedBecause: readonly RefusalCount[];
}

export function explainGroup(node: QuotaNode, group: number): GroupExplanation {
  const config = node.groups.at(group);
  if (node.coordinator === null) throw node.notReadyError();
  const explain = (direction: Direction) => explainLane(node, group, direction);
  return {
    ...{ group: config.name, node: node.config.nodeId, strategy: config.strategy },
    directions: { publish: explain('publish'), dispatch: explain('dispatch') },
  };
}

/** One direction alone. */
export function explainLane(node: QuotaNode, group: number, direction: Direction): DirectionExplanation {
  const { directions } = describeGroup(node, group);
  return explainDirection(node, group, direction, directions[direction]);
}

function explainDirection(
  node: QuotaNode,
  group: number,
  direction: Direction,
  status: DirectionStatus,
): DirectionExplanation {
  const config = node.groups.at(group);
  const at = DIRECTIONS.indexOf(direction);
  const { coordinator } = node;
  if (coordinator === null) throw node.notReadyError();
  const mapLane = coordinator.usageMap.mapLaneOf(groupIdOf(node.config.cluster, config.name), at);
  const lane = coordinator.targets.decide(config, at, mapLane);
  const { inputs, decision } = lane;
  return {
    quota: {
      ...status.quota,
      costPerSecond: finiteOrNull(inputs.totalCost),
      reservedCostPerSecond: inputs.reservedCost,
    },
    usage: sumOf(status, 'usage'),
    demand: sumOf(status, 'demand'),
    cost: {
      transactionsPerSecond: inputs.transactions,
      costPerSecond: inputs.cost,
      average: decision.averageCost,
      expected: inputs.expectedCost,
    },
    reserved: decision.reserved,
    desired: finiteOrNull(decision.desired),
    limiting: explainLimiting(node, lane),
    target: finiteOrNull(decision.target),
    binding: decision.binding,
    busy: decision.isBusy,
    ramp: status.ramp,
    inForce: status.target,
    shareSum: status.shareSum,
    local: explainLocal(node, laneOf(group, at), status),
  };
}

function explainLimiting(node: QuotaNode, { decision, zones, costs }: LaneTarget): LimitingExplanation {
  const { mode, split, zonesLeftOut } = node.config.limiting;
  const book = node.coordinator?.targets.backends;
  const named = (zone: { zone: string; backend: number; limit: number }): ZoneExplanation => {
    return { zone: zone.zone, backend: book?.get(zone.backend)?.name ?? '', rate: zone.limit };
  };
  const deciding = zones.deciding(zonesLeftOut);
  return {
    ...{ mode, split, rate: finiteOrNull(decision.limiting), minimum: decision.minimum },
    deciding: deciding === null ? null : named(deciding),
    leftOut: zones.leftOutZones(zonesLeftOut).map(named),
    backends: [...costs].map(([id, cost]) => {
      const known = book?.get(id);
      const ratio = known?.ratio ?? HEALTHY;
      const backend = known?.name ?? '(health unknown)';
      return { backend, zone: known?.zone ?? '', throttlingRatio: finiteOrNull(ratio), costPerSecond: cost };
    }),
  };
}

function explainLocal(node: QuotaNode, lane: number, { local }: DirectionStatus): LocalExplanation {
  const { served, link, share, limit, refusedMessages, refusedBytes } = local;
  const nowMs = node.clock();
  const tokens = (dimension: number) => finiteOrNull(node.limiter.available(lane, dimension, nowMs));
  return {
    ...{ served, link, share, limit, refusedMessages, refusedBytes },
    allowance: {
      messagesPerSecond: difference(limit.messagesPerSecond, share.messagesPerSecond),
      bytesPerSecond: difference(limit.bytesPerSecond, share.bytesPerSecond),
    },
    tokens: { messages: tokens(MESSAGES), bytes: tokens(BYTES) },
    refusals: node.limiter.refusals.at(lane),
    refusedBecause: node.gate.refusals.of(lane, nowMs),
  };
}

function sumOf({ nodes }: DirectionStatus, column: 'usage' | 'demand'): RateStatus {
  const sum = (key: keyof RateStatus) => nodes.reduce((total, node) => total + (node[column][key] ?? 0), 0);
  return { messagesPerSecond: sum('messagesPerSecond'), bytesPerSecond: sum('bytesPerSecond') };
}

function difference(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one - other;
}

function finiteOrNull(rate: number): number | null {
  return Number.isFinite(rate) ? rate : null;
}
