import { describeQuota } from '../../config/describe/describe-config.js';
import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { groupIdOf, incarnationCount } from '../../core/base/ids.js';
import { shownRates } from '../../core/base/shown-rates.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  DIRECTIONS,
  type Direction,
  type GroupId,
  laneOf,
  MEMBERSHIP_PARTITION,
  MESSAGES,
  NO_RATES,
  type Rates,
  slotOf,
} from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import type {
  DirectionStatus,
  GroupStatus,
  LocalStatus,
  MemberStatus,
  NodeShareStatus,
  NodeStatus,
  PoolStatus,
  RampStatus,
  RateStatus,
} from '../api/node-status.js';
import { describeRegistry, originOf } from '../groups/registry/describe-registry.js';
import { describeBusy } from './busy-groups.js';
import { DEGRADED } from './degraded.js';
import { describeRamp } from './describe-ramp.js';
import { describeShadow } from './describe-shadow.js';
import { describeSignatures, signedApart } from './describe-signatures.js';
import { describeTokens } from './describe-tokens.js';
import { addSilentUse } from './silent-use.js';
import type { ReadinessParts, StatusParts } from './status-parts.js';

/** The node as `/v1/nodes`, `/readyz` and the metrics show it. */
export function describeNode(parts: StatusParts): NodeStatus {
  const { config, pump, topic } = parts;
  const { coordinator } = parts.loop;
  const nowMs = parts.clock();
  const offsets =
    coordinator === null ? [] : Array.from({ length: topic.partitions }, (_, at) => coordinator.log.nextOffset(at));
  return {
    cluster: config.cluster,
    nodeId: config.nodeId,
    version: parts.version,
    incarnation: coordinator === null ? 0 : incarnationCount(coordinator.incarnation),
    phase: coordinator?.phase ?? 'opening',
    ready: parts.loop.isReady && !parts.life.isClosing,
    notReadyBecause: notReadyBecause(parts),
    degraded: Object.values(DEGRADED).flatMap((reasons) => reasons(parts, nowMs)),
    uptimeMs: nowMs - parts.startedMs,
    members: coordinator === null ? [] : membersOf(coordinator, nowMs),
    topic: {
      kind: config.topic.kind,
      partitions: coordinator === null ? 0 : topic.partitions,
      epoch: coordinator?.log.epochs.name ?? null,
      epochChanges: coordinator?.log.epochs.changes ?? 0,
      lost: pump.lost,
      offsets,
      pendingAppends: pump.pendingAppends,
      counters: { ...topic.counters },
    },
    registry: describeRegistry(parts),
    keys: Array.from(parts.keys?.counts ?? [], ([template, counts]) => ({ template, ...counts })),
    signatures: describeSignatures(parts),
    configuration: parts.yaml.status,
    rounds: parts.loop.rounds.count,
    reportRoundTripMs: coordinator?.reportRoundTripMs ?? 0,
    lastRebalancingMs: parts.loop.rebalancing.lastMs(nowMs),
    pool: poolOf(parts),
    recordsIgnored: { ...pump.undecodable, ...coordinator?.log.ignored },
    telemetryFailures: parts.telemetry.failures,
    ...describeBusy(parts),
  };
}

/**
 * A group as `/v1/groups/{group}` shows it: every node's usage, demand and share as this node computes them from the
 * log.
 */
export function describeGroup(parts: StatusParts, group: number): GroupStatus {
  const config = parts.groups.at(group);
  const [publish, dispatch] = DIRECTIONS.map((direction) => describeDirection(parts, group, config, direction));
  return {
    group: config.name,
    strategy: config.strategy,
    promise: 'relaxed',
    enabled: config.enabled,
    mode: config.mode,
    shadow: describeShadow(parts, group, (number, direction) => {
      return describeDirection(parts, number, parts.groups.at(number), direction);
    }),
    ...originOf(parts, config.name),
    directions: { publish: publish, dispatch: dispatch },
  };
}

export function describeDirection(
  parts: StatusParts,
  group: number,
  config: GroupConfig,
  direction: Direction,
): DirectionStatus {
  const target = targetOf(parts, group, direction);
  const { coordinator } = parts.loop;
  const at = DIRECTIONS.indexOf(direction);
  const nodes = coordinator === null ? [] : laneShares(coordinator, group, at, parts.clock());
  return {
    quota: shownRates(config.quota[direction]),
    quotaAsWritten: describeQuota(config, direction),
    target: shownRates(target),
    ramp: rampOf(parts, group, direction),
    clusterBucket: describeTokens(parts, laneOf(group, at)),
    shareSum: {
      messagesPerSecond: sumOf(nodes, 'messagesPerSecond', target[MESSAGES]),
      bytesPerSecond: sumOf(nodes, 'bytesPerSecond', target[BYTES]),
    },
    local: localOf(parts, laneOf(group, at), nodes.find(({ self }) => self)?.share),
    nodes,
  };
}

/** The target as computed from the log; the configured quota before the node has read any. */
function targetOf({ loop: { coordinator }, groups }: StatusParts, group: number, direction: Direction): Rates {
  if (coordinator === null) return groups.at(group).quota[direction];
  const { usageMap, targets, settings } = coordinator;
  const configured = settings.groups[group];
  const at = DIRECTIONS.indexOf(direction);
  const target = new Float64Array(DIMENSION_COUNT);
  targets.ratesInto(target, configured, at, usageMap.mapLaneOf(groupIdOf(settings.cluster, configured.name), at));
  return [target[MESSAGES], target[BYTES]];
}

function rampOf({ loop: { coordinator } }: StatusParts, group: number, direction: Direction): RampStatus | null {
  if (coordinator === null) return null;
  const { settings, usageMap } = coordinator;
  const configured = settings.groups[group];
  const at = DIRECTIONS.indexOf(direction);
  const mapLane = usageMap.mapLaneOf(groupIdOf(settings.cluster, configured.name), at);
  return describeRamp(coordinator, configured, at, mapLane);
}

/**
 * Usage, demand and share of every alive node for a lane, as the log that the coordinator has read says.
 */
export function laneShares(
  coordinator: Coordinator,
  group: number,
  direction: number,
  nowMs: number,
): NodeShareStatus[] {
  const { usageMap, shares, settings, nodeKey } = coordinator;
  const groupId = groupIdOf(settings.cluster, settings.groups[group]?.name ?? '');
  const mapLane = usageMap.mapLaneOf(groupId, direction);
  const view = shares.converge(group, direction, mapLane);
  addSilentUse(view, coordinator, { groupId, direction, nowMs });
  const { members } = coordinator.aliveFor(groupId);
  const rows = rowByIndex(coordinator, groupId, mapLane);
  const store = usageMap.rows;
  return members.map((member, at) => {
    const row = rows.get(at);
    const reported: Rates = row === undefined ? NO_RATES : [store.shareOf(row, MESSAGES), store.shareOf(row, BYTES)];
    return {
      nodeId: member.nodeId,
      self: member.nodeKey === nodeKey,
      usage: shownRates(columnsAt(view.usage, at)),
      demand: shownRates(columnsAt(view.demand, at)),
      share: shownRates(columnsAt(view.share, at)),
      reportedShare: shownRates(reported),
      topics: row === undefined ? 0 : store.topicsOf(row),
      reportAgeMs: row === undefined ? null : Math.round(nowMs - store.readMsOf(row)),
    };
  });
}

function rowByIndex(coordinator: Coordinator, groupId: GroupId, mapLane: number): Map<number, number> {
  const { usageMap } = coordinator;
  const alive = coordinator.aliveFor(groupId);
  const rows = new Map<number, number>();
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = usageMap.rows.nextOf(row)) {
    const index = alive.indexOf(usageMap.rows.memberOf(row));
    if (index !== -1) rows.set(index, row);
  }
  return rows;
}

/** The link of a group that is not used yet: that of the node, because any of its partitions may be the lane's. */
function linkBeforeUse(parts: StatusParts, lane: number): LocalStatus['link'] {
  const link = parts.loop.coordinator?.link;
  const isolated = link?.isolatedPartitions ?? [];
  if (link === undefined || isolated.length === 0) return 'linked';
  const nowMs = parts.clock();
  const silentMs = Math.max(...isolated.map((partition) => link.silentMs(partition, nowMs)));
  const { holdMs } = parts.groups.at(Math.floor(lane / DIRECTION_COUNT)).isolation;
  return silentMs > holdMs ? 'fallback' : 'held';
}

function localOf(parts: StatusParts, lane: number, computed: RateStatus | undefined): LocalStatus {
  const { limiter } = parts;
  const { coordinator } = parts.loop;
  const state = coordinator?.lanes.get(lane);
  const messages = slotOf(lane, MESSAGES);
  const bytes = slotOf(lane, BYTES);
  // Nothing is applied before the first use: this is the share that would be.
  const expected = computed ?? shownRates(NO_RATES);
  const { admitted, attempted, refused } = parts.gate.shadows.inForce;
  const pair = (column: Float64Array | undefined): Rates => [column?.[messages] ?? 0, column?.[bytes] ?? 0];
  return {
    served: state !== undefined,
    link: state?.link ?? linkBeforeUse(parts, lane),
    share: state === undefined ? expected : shownRates(pair(coordinator?.shares.applied)),
    limit: state === undefined ? expected : shownRates(pair(coordinator?.shares.limit)),
    admittedMessages: admitted.at(messages),
    admittedBytes: admitted.at(bytes),
    attemptedMessages: attempted.at(messages),
    attemptedBytes: attempted.at(bytes),
    refusedMessages: refused.at(messages),
    refusedBytes: refused.at(bytes),
    heldBack: limiter.heldBack[lane],
    debtMessages: limiter.buckets.debt(lane, MESSAGES, parts.clock()),
    debtBytes: limiter.buckets.debt(lane, BYTES, parts.clock()),
    letOffMessages: limiter.buckets.letOffAt(messages),
    letOffBytes: limiter.buckets.letOffAt(bytes),
  };
}

function poolOf({ loop: { coordinator }, groups }: StatusParts): PoolStatus | null {
  const [first] = groups.numbers.values();
  const given = first === undefined ? 0 : groups.at(first).nodeCount;
  if (given > 0) return { size: given, agreed: true };
  if (coordinator === null || coordinator.shares.ownClaims[MEMBERSHIP_PARTITION]!.newest === 0) return null;
  const { divisor, isAgreed } = coordinator.log.pools[MEMBERSHIP_PARTITION]!;
  return { size: divisor, agreed: isAgreed };
}

function membersOf(coordinator: Coordinator, nowMs: number): MemberStatus[] {
  return [...coordinator.membership.all()]
    .filter((member) => member.nodeId !== '')
    .map((member) => ({
      nodeId: member.nodeId,
      incarnation: incarnationCount(member.incarnation),
      state: member.state,
      self: member.nodeKey === coordinator.nodeKey,
      silentMs: Math.round(nowMs - member.lastSignMs),
      version: member.version,
    }))
    .sort((left, right) => (left.nodeId < right.nodeId ? -1 : 1));
}

/** The reasons alone, for answers, because making the whole status goes through all groups. */
export function notReadyBecause(parts: ReadinessParts): string[] {
  if (parts.life.isClosing) return ['the node is stopping'];
  if (parts.loop.isReady) return [];
  const lost = parts.pump.lost === null ? [] : [`the topic is lost: ${parts.pump.lost}`, ...howToStart(parts)];
  if (parts.registry !== null && !parts.registry.isReady) {
    const { lost: why } = parts.registry;
    const away = why === null ? [] : [`its topic is lost: ${why}`, ...howToStart(parts)];
    return ['the groups are being read from the registry', ...away];
  }
  const { coordinator } = parts.loop;
  const isKnown = coordinator === null || coordinator.membership.isAccepted(coordinator.nodeKey);
  const isRefused = !isKnown && (coordinator?.log.ignored['too-many-nodes'] ?? 0) > 0;
  const state = coordinator?.endedBy?.kind ?? coordinator?.phase ?? 'opening';
  const reason = WAITING_FOR[isRefused ? 'refused' : state];
  const apart = signedApart(parts);
  return [...(apart === null ? [] : [apart]), ...(reason === undefined ? [] : [reason]), ...lost];
}

/** Names the setting with which a node that has never been ready would decide without its topic. */
function howToStart({ config: { start }, loop }: ReadinessParts): string[] {
  if ((loop.coordinator?.readyMs ?? 0) > 0) return [];
  if (start.policy === 'wait') return ['start.policy: alone would let it decide without'];
  return start.file === null && start.nodeCount === null
    ? ['start.policy: alone needs start.file or start.nodeCount']
    : [];
}

const WAITING_FOR: Readonly<Record<string, string>> = {
  opening: 'the topic is being opened',
  'catching-up': 'the topic is being read from the start',
  joining: 'the own record has not been read back yet',
  stalled: 'the process slept; the log is being read up to now',
  refused: 'the cluster has limits.maxNodes node ids already, this one is not among them',
  stopping: 'the node is stopping',
  fenced: 'a newer process uses this node id',
  'partitions-differ': 'a member works with fewer partitions of the topic',
};

function sumOf(nodes: readonly NodeShareStatus[], key: keyof RateStatus, target: number): number | null {
  if (target === Infinity) return null;
  return nodes.reduce((total, { share }) => total + (share[key] ?? 0), 0);
}

function columnsAt(columns: readonly Float64Array[], at: number): Rates {
  return [columns[MESSAGES]?.[at] ?? 0, columns[BYTES]?.[at] ?? 0];
}
