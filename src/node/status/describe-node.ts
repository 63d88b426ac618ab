import { describeQuota } from '../../config/describe/describe-config.js';
import { correctedRate } from '../../core/account/cluster-bucket.js';
import type { SlotTokens } from '../../core/account/slot-tokens.js';
import { incarnationCount } from '../../core/base/ids.js';
import { shownRates } from '../../core/base/shown-rates.js';
import { BYTES, lanesOf, MEMBERSHIP_PARTITION, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import { bucketSeen } from '../../core/machine/bucket-seen.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import { amountOf } from '../../core/strict/budget-units.js';
import type {
  BudgetStatus,
  ClusterBucketStatus,
  DirectionStatus,
  GroupStatus,
  MemberStatus,
  NodeStatus,
  PoolStatus,
  ShadowDirectionStatus,
  ShadowStatus,
  SlotsStatus,
  StrictStatus,
} from '../api/node-status.js';
import { describeRegistry, originOf } from '../groups/registry/describe-registry.js';
import type { BudgetLane } from '../strict/budget-lanes.js';
import { describeBusy } from './busy-watch.js';
import { DEGRADED, describeSignatures, signedApart } from './degraded.js';
import { LaneSummary } from './lane-summary.js';
import type { ReadinessParts, StatusParts } from './status-parts.js';

/** Describes the node for `/v1/nodes`, `/readyz` and the metrics. */
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

/** Describes a group for `/v1/groups/{group}`: usage, demand and share of every node by the log. */
export function describeGroup(parts: StatusParts, group: number): GroupStatus {
  const { name, strategy, enabled, mode } = parts.groups.at(group);
  const [publish, dispatch] = lanesOf(group).map((lane) => describeLane(parts, new LaneSummary(parts, lane)));
  return {
    group: name,
    strategy,
    promise: lanesOf(group).some((lane) => parts.strict.get(lane) !== undefined) ? 'strict' : 'relaxed',
    budget: describeBudget(parts, parts.budgets.known(group)),
    strictAwaits: [...(parts.strict.awaitedBy(group) ?? [])],
    enabled,
    mode,
    shadow: describeShadow(parts, group),
    ...originOf(parts, name),
    slots: describeSlots(parts, group),
    directions: { publish, dispatch },
  };
}

function describeLane(parts: StatusParts, summary: LaneSummary): DirectionStatus {
  const { config, quota, target, ramp, direction, lane } = summary;
  const { nodes, sums } = summary.divided;
  const shareSum = (dimension: number) => (target[dimension] === Infinity ? Infinity : sums.share[dimension]);
  return {
    quota: shownRates(quota),
    quotaAsWritten: describeQuota(config, direction),
    target: shownRates(target),
    ramp,
    clusterBucket: describeTokens(parts, lane),
    strict: describeStrict(parts, lane),
    shareSum: shownRates([shareSum(MESSAGES), shareSum(BYTES)]),
    local: summary.local(nodes),
    nodes,
  };
}

export function describeBudget({ budgets }: Pick<StatusParts, 'budgets'>, lane: BudgetLane | undefined) {
  return lane === undefined ? null : budgetStatus(budgets, lane);
}

function budgetStatus(budgets: StatusParts['budgets'], lane: BudgetLane): BudgetStatus {
  const { config, bucket } = lane;
  const { unit, per, timezone } = config;
  const { limit, remaining } = budgets.told(lane);
  const { budget, heldByAll: held } = bucket;
  const period = budget?.period ?? null;
  const isoOf = (atMs: number | null | undefined) => (atMs == null ? null : new Date(atMs).toISOString());
  return {
    state: budgets.stateOf(lane),
    because: budgets.because(lane),
    unit,
    per,
    timezone,
    limit,
    remaining,
    spent: amountOf(unit, Math.max(0, (budget?.gone ?? 0) - held)),
    held: amountOf(unit, held),
    lost: amountOf(unit, budget?.lost ?? 0),
    from: per === 'total' ? null : isoOf(period?.fromMs),
    until: isoOf(period?.untilMs),
  };
}

function describeStrict({ strict }: StatusParts, lane: number): StrictStatus | null {
  const kept = strict.get(lane);
  if (kept === undefined) return null;
  return { state: strict.stateOf(kept), because: strict.because(kept), ...kept.bucket.describe() };
}

export function describeSlots({ slots }: StatusParts, group: number): SlotsStatus | null {
  const lane = slots.known(group);
  if (lane === undefined) return null;
  const { bucket, inUse, lost } = lane;
  const { isInForce, waitsFor, waiting, roundTripMs, holders, depth: limit } = bucket.describe();
  return {
    state: slots.stateOf(lane),
    because: slots.because(lane),
    limit,
    inUse,
    free: Math.min(limit, bucket.left),
    held: inUse + bucket.held,
    lost,
    isInForce,
    waitsFor,
    waiting,
    roundTripMs,
    holders: holders.map(({ nodeId, hold }) => ({ nodeId, hold })),
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

/** Lists the reasons alone, as the whole status goes through all groups. */
export function notReadyBecause(parts: ReadinessParts): string[] {
  if (parts.life.isClosing) return ['the node is stopping'];
  const { isReady, endedBy } = parts.loop;
  if (isReady) return [];
  if (endedBy !== null) return [endedBy.advice];
  const lost = parts.pump.lost === null ? [] : [`the topic is lost: ${parts.pump.lost}`, ...howToStart(parts)];
  if (parts.registry !== null && !parts.registry.isReady) {
    const { lost: why } = parts.registry;
    const away = why === null ? [] : [`its topic is lost: ${why}`, ...howToStart(parts)];
    return ['the groups are being read from the registry', ...away];
  }
  const { coordinator } = parts.loop;
  const isKnown = coordinator === null || coordinator.membership.isAccepted(coordinator.nodeKey);
  const isRefused = !isKnown && (coordinator?.log.ignored['too-many-nodes'] ?? 0) > 0;
  const state = coordinator?.phase ?? 'opening';
  const reason = WAITING_FOR[isRefused ? 'refused' : state];
  const apart = signedApart(parts);
  return [...(apart === null ? [] : [apart]), ...(reason === undefined ? [] : [reason]), ...lost];
}

/** Names the setting for deciding without the topic. The node was never ready. */
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
};

function describeShadow(parts: StatusParts, group: number): ShadowStatus | null {
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

/** Describes the cluster's buckets of a lane; null = nodes have gates, or it is not served here. */
function describeTokens(parts: StatusParts, lane: number): DirectionStatus['clusterBucket'] {
  const { clock, limiter, loop } = parts;
  const { coordinator } = loop;
  const tokens = coordinator?.lanes.get(lane)?.tokens;
  if (coordinator === null || !tokens) return null;
  const nowMs = clock();
  const describe = (dimension: number): ClusterBucketStatus | null => {
    const now = bucketSeen(coordinator, lane, dimension, nowMs);
    if (now === null) return null;
    const rate = correctedRate(now.bucket, now.tokens);
    const { expected, account, isInPieces, piece, comesBackPerSecond } = tokens.slots[dimension] as SlotTokens;
    // The limiter gives from the cluster's bucket, or cut off from the share.
    const here = limiter.available(lane, dimension, nowMs) - limiter.buckets.debt(lane, dimension, nowMs);
    const missing = piece - (isInPieces ? Math.min(here, now.tokens) : here);
    return {
      expectedPerSecond: Math.min(expected.served, rate),
      ownExpectedPerSecond: expected.ownAt(rate),
      unread: account.unread,
      takeable: here,
      passesInMs: here >= piece || comesBackPerSecond <= 0 ? 0 : Math.ceil((1000 * missing) / comesBackPerSecond),
      inPieces: isInPieces,
      throttled: expected.isThrottled,
      ...now.seen,
    };
  };
  return { messages: describe(MESSAGES), bytes: describe(BYTES) };
}
