import { gatesOf } from '../../core/base/local-gate.js';
import { finiteOrNull, shownRates } from '../../core/base/shown-rates.js';
import {
  type BackendId,
  BYTES,
  DIRECTIONS,
  type Direction,
  laneOf,
  MESSAGES,
  slotOf,
} from '../../core/base/vocabulary.js';
import type { LaneTarget } from '../../core/target/target-book.js';
import { HEALTHY } from '../../core/target/throttling-ratio.js';
import type {
  DirectionExplanation,
  GroupExplanation,
  LimitingExplanation,
  LocalExplanation,
  ZoneExplanation,
} from '../api/group-explanation.js';
import type { LocalStatus } from '../api/node-status.js';
import { describeBudget, describeGroup, describeSlots } from './describe-node.js';
import { LaneSummary } from './lane-summary.js';
import { ruleOf } from './rule-of.js';
import type { StatusParts } from './status-parts.js';

export function explainGroup(parts: StatusParts, group: number): GroupExplanation {
  const config = parts.groups.at(group);
  const explain = (direction: Direction) => explainLane(parts, group, direction);
  return {
    group: config.name,
    node: parts.config.nodeId,
    strategy: config.strategy,
    rule: ruleOf(parts, config.name),
    gate: gatesOf(config)[0] ?? null,
    slots: describeSlots(parts, group),
    budget: describeBudget(parts, parts.budgets.known(group)),
    directions: { publish: explain('publish'), dispatch: explain('dispatch') },
  };
}

export function explainLane(parts: StatusParts, group: number, direction: Direction): DirectionExplanation {
  const { directions, shadow } = describeGroup(parts, group);
  const status = directions[direction];
  const at = DIRECTIONS.indexOf(direction);
  const { coordinator } = parts.loop;
  if (coordinator === null) throw parts.notReady();
  const { sums } = new LaneSummary(parts, laneOf(group, at));
  const { mapLane } = coordinator.laneOf(coordinator.groupIdOf(group), at);
  const lane = coordinator.targets.decide(parts.groups.at(group), at, mapLane);
  const { inputs, decision } = lane;
  return {
    quota: {
      ...status.quota,
      costPerSecond: finiteOrNull(inputs.totalCost),
      reservedCostPerSecond: inputs.reservedCost,
    },
    quotaAsWritten: status.quotaAsWritten,
    usage: shownRates(sums.usage),
    demand: shownRates(sums.demand),
    cost: {
      transactionsPerSecond: inputs.transactions,
      costPerSecond: inputs.cost,
      average: decision.averageCost,
      expected: inputs.expectedCost,
    },
    reserved: decision.reserved,
    desired: finiteOrNull(decision.desired),
    limiting: explainLimiting(parts, lane),
    target: finiteOrNull(decision.target),
    binding: decision.binding,
    busy: decision.isBusy,
    ramp: status.ramp,
    inForce: status.target,
    shareSum: status.shareSum,
    clusterBucket: status.clusterBucket,
    strict: status.strict,
    local: explainLocal(parts, laneOf(group, at), status.local),
    shadow: shadow?.directions[direction] ?? null,
  };
}

function explainLimiting(parts: StatusParts, { decision, zones, costs }: LaneTarget): LimitingExplanation {
  const { mode, split, zonesLeftOut } = parts.config.limiting;
  const book = parts.loop.coordinator?.targets.backends;
  const named = (zone: { zone: string; backend: BackendId; limit: number }): ZoneExplanation => {
    return { zone: zone.zone, backend: book?.get(zone.backend)?.name ?? '', rate: zone.limit };
  };
  const deciding = zones.deciding(zonesLeftOut);
  return {
    mode,
    split,
    rate: finiteOrNull(decision.limiting),
    minimum: decision.minimum,
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

function explainLocal(parts: StatusParts, lane: number, local: LocalStatus): LocalExplanation {
  const { served, link, share, refusedMessages, refusedBytes } = local;
  const nowMs = parts.clock();
  const { limiter } = parts;
  const tokens = (dimension: number) => finiteOrNull(limiter.available(lane, dimension, nowMs));
  const depth = (dimension: number) => finiteOrNull(limiter.buckets.depth.at(slotOf(lane, dimension)));
  const { remaining, resetMs } = parts.gate.told(lane);
  const comesBack = (dimension: number) => limiter.buckets.comesBackAt(slotOf(lane, dimension));
  return {
    served,
    link,
    share,
    refusedMessages,
    refusedBytes,
    tokens: { messages: tokens(MESSAGES), bytes: tokens(BYTES) },
    remaining,
    resetMs,
    depth: { messages: depth(MESSAGES), bytes: depth(BYTES) },
    comesBack: {
      messagesPerSecond: share.messagesPerSecond === null || !served ? share.messagesPerSecond : comesBack(MESSAGES),
      bytesPerSecond: share.bytesPerSecond === null || !served ? share.bytesPerSecond : comesBack(BYTES),
    },
    windowMs: limiter.buckets.windowOf(lane),
    refusals: parts.gate.shadows.inForce.refusedOnce.at(lane),
    refusedBecause: parts.gate.refusals.of(lane, nowMs),
  };
}
