import { z } from 'zod';
import type { TopicCounters } from '../../base/ports/report-topic.js';
import { DIMENSIONS, DIRECTIONS } from '../../core/base/vocabulary.js';
import { BUDGET_PERS } from '../../core/strict/budget-account.js';
import { BUDGET_UNITS } from '../../core/strict/budget-units.js';
import type { Binding } from '../../core/target/target-rate.js';
import {
  type AnswerOf,
  COUNTS,
  count,
  type Described,
  integer,
  listOf,
  number,
  oneOf,
  perDirection,
  record,
  signed,
  text,
  yes,
} from './answer-table.js';
import { type PerDimension, REFUSERS } from './decision.js';

export const RATE_STATUS = { messagesPerSecond: number.nullable(), bytesPerSecond: number.nullable() };
/** Rates in units per second; null = no quota (unlimited). */
export interface RateStatus extends AnswerOf<typeof RATE_STATUS> {}
export const RATES = record<RateStatus>(RATE_STATUS, 'Units per second; null = no quota (unlimited).');
export const AMOUNTS = record<PerDimension>({ messages: number.nullable(), bytes: number.nullable() });

/** Rates as YAML writes them: 5 per second, or `5/min`. */
export type QuotaAsWritten = Readonly<Record<string, number | string>>;

const QUOTA_AS_WRITTEN: Described<QuotaAsWritten> = z
  .record(z.string(), z.union([z.number().min(0), z.string()]))
  .meta({ description: 'Rates as YAML would write them: 5 per second, or "5/min".' });
export const QUOTA = { quota: RATES, quotaAsWritten: QUOTA_AS_WRITTEN };

export const LEVEL = oneOf(REFUSERS);
export const DIMENSION = oneOf(DIMENSIONS);
/** Unit that was refused; tokens and cents only by a budget. */
export const REFUSED_UNIT = oneOf(BUDGET_UNITS);
export const ONE_DIRECTION = oneOf(DIRECTIONS);

const BINDINGS = [
  'unlimited',
  'messages',
  'cost',
  'limiting',
  'minimum',
  'reserved',
] as const satisfies readonly Binding[];
export const BINDING = oneOf(BINDINGS);

const MEMBER_STATUS = {
  nodeId: text,
  incarnation: count,
  state: oneOf(['alive', 'left', 'expired']),
  self: yes,
  /** Milliseconds since its last record was read here. */
  silentMs: integer,
  version: text,
};
export interface MemberStatus extends AnswerOf<typeof MEMBER_STATUS> {}

export const TOPIC_STATUS = {
  kind: text,
  partitions: count,
  /** Name of the log; null before the first one. */
  epoch: text.nullable(),
  /** Times since the start that the log was replaced. */
  epochChanges: count,
  /** Reason; null = the topic works. */
  lost: text.nullable(),
  /** Next offset per partition. */
  offsets: listOf(integer),
  pendingAppends: count,
  counters: COUNTS as unknown as Described<TopicCounters>,
};
export interface TopicStatus extends AnswerOf<typeof TOPIC_STATUS> {}

const REGISTRY_STATUS = {
  enabled: yes,
  /** True = all that its topic held at the start is read. */
  ready: yes,
  /** Reason; null = its topic works. */
  lost: text.nullable(),
  /** Name of the log. */
  epoch: text.nullable(),
  epochChanges: count,
  /** Offset behind the last record read. */
  offset: count,
  groups: count,
  /** Groups whose definition this node cannot use. */
  refused: listOf(text),
  recordsIgnored: count,
};
/** State of the groups that were defined at run time. */
export interface RegistryStatus extends AnswerOf<typeof REGISTRY_STATUS> {}

const TEMPLATE_STATUS = {
  template: text,
  live: count,
  /** Keys that are groups like any other now. */
  loud: count,
  made: count,
  forgotten: count,
  /** Requests refused for want of room for their key. */
  refused: count,
  /** Requests refused by the quota of their key. */
  overQuota: count,
  /** Limits in requests that were refused: LIMIT_DENIED, LIMIT_INVALID. */
  limitsRefused: count,
  granted: count,
};
/** Counts of one template's keys at this node. */
export interface TemplateStatus extends AnswerOf<typeof TEMPLATE_STATUS> {}

const SIGNATURE_STATUS = {
  log: oneOf(['reports', 'registry']),
  /** Name of the signing key, which reveals nothing of it; equal at all nodes but during a rotation. */
  keyId: text,
  /** Treatment of unverified records: require = ignored, warn = accepted. */
  mode: oneOf(['require', 'warn']),
  /** Keys whose newest record `verify: require`, or the previous key's end, would lose; ≤ 10,000. */
  unverifiedKeys: count,
  previousKeys: count,
  /** Records read by signing key: key, next-key, previous-key. */
  verified: COUNTS,
  /** Records read by cause: unsigned, unknown-key, wrong-signature. */
  unverified: COUNTS,
  /** Nodes that write reports and sign otherwise than this one; ≤ 1,000. */
  strangers: count,
  /** True = strangers write, none signs alike, and unverified records are ignored. */
  isApart: yes,
};
/** Verification of records (topic.hmac). */
export interface SignatureStatus extends AnswerOf<typeof SIGNATURE_STATUS> {}

const CONFIGURATION_STATUS = {
  /** The file or folder. */
  source: text,
  taken: count,
  refused: count,
  /** First mistake of the files as they are now; null = none. */
  refusedBecause: text.nullable(),
  /** Settings whose new values in the files are not in force. */
  needsRestart: listOf(text),
  /** Groups that other nodes' YAML lacks or has otherwise; names: the first 20. */
  differingGroups: count,
  differs: listOf(record({ group: text, nodes: listOf(text) })),
  hiddenByRunTime: count,
  hidden: listOf(text),
};
/** State of the YAML since the start. */
export interface ConfigurationStatus extends AnswerOf<typeof CONFIGURATION_STATUS> {}

const POOL_STATUS = {
  size: count,
  /** True = every member agrees; until then the size does not fall, and newcomers wait. */
  agreed: yes,
};
export interface PoolStatus extends AnswerOf<typeof POOL_STATUS> {}

const BUSY_GROUP_STATUS = {
  group: text,
  direction: ONE_DIRECTION,
  /** Ceiling that the target is equal to; `reserved`, `minimum`: the part never taken away. */
  binding: BINDING,
  /** Messages/s; null = report-only without a message quota: nothing is enforced. */
  targetMessagesPerSecond: number.nullable(),
};
export interface BusyGroupStatus extends AnswerOf<typeof BUSY_GROUP_STATUS> {}

export const NODE_STATUS = {
  cluster: text,
  nodeId: text,
  version: text,
  incarnation: count,
  phase: text,
  ready: yes,
  /** Reasons why it is not ready; empty when it is. */
  notReadyBecause: listOf(text),
  /** Faults beside which the node stays ready, e.g. `isolated: partition 0, silent for 4210 ms`. */
  degraded: listOf(text),
  uptimeMs: number,
  members: listOf(record<MemberStatus>(MEMBER_STATUS)),
  topic: record<TopicStatus>(TOPIC_STATUS),
  registry: record<RegistryStatus>(REGISTRY_STATUS),
  /** Counts since the start, by template. */
  keys: listOf(record<TemplateStatus>(TEMPLATE_STATUS)),
  /** One entry per topic; empty = records are not signed. */
  signatures: listOf(record<SignatureStatus>(SIGNATURE_STATUS)),
  configuration: record<ConfigurationStatus>(CONFIGURATION_STATUS),
  rounds: count,
  /** Milliseconds from appending the last own report to reading it back; 0 before the first. */
  reportRoundTripMs: number,
  /** Milliseconds of the last rebalancing: from the first share that moved to the last, with 300 ms of rest. */
  lastRebalancingMs: number,
  /** Number by which groups of strategy equal divide; null = there are none. */
  pool: record<PoolStatus>(POOL_STATUS, 'The divisor of strategy equal; null = no such group.').nullable(),
  recordsIgnored: COUNTS,
  /** Failed calls of the telemetry; their lines are lost. */
  telemetryFailures: count.meta({ description: 'Log lines that were lost because the telemetry failed.' }),
  /** Lanes served here that saturated backends hold below their quota; `…` the first 20 by name. */
  busyLanes: count.meta({
    description: 'The number of lanes (a direction of a group) that saturated backends hold below their quota.',
  }),
  busyGroups: listOf(record<BusyGroupStatus>(BUSY_GROUP_STATUS)),
};
/** Status of a node, for `/v1/nodes`, `/readyz`, metrics and the status command. */
export interface NodeStatus extends AnswerOf<typeof NODE_STATUS> {}

const CLUSTER_BUCKET_STATUS = {
  /** Tokens now; negative = a debt. */
  tokens: signed.meta({ description: 'In it now; negative = a debt.' }),
  depth: number,
  /** Tokens that a busy bucket returns to. */
  setPoint: number.meta({ description: 'The amount to which a busy bucket returns.' }),
  /** Units/s beyond the target, or below, until the set point is reached. */
  correctionPerSecond: signed.meta({
    description: 'The cluster is given so much more than the target, or less, until the bucket holds the set point.',
  }),
  /** Units/s that all nodes are expected to take together; this node's part. */
  expectedPerSecond: number.meta({ description: 'The rate that all nodes are expected to take together.' }),
  ownExpectedPerSecond: number,
  /** Units that this node took beyond that and has not published; negative = it took less. */
  unread: signed.meta({ description: 'The amount that this node took beyond that, and the log does not know.' }),
  /**
   * Units that each node published beyond its expected use; negative = less. They count since its entry began. Nodes
   * that published nothing are missing.
   */
  charged: listOf(record({ nodeId: text, units: signed })).meta({
    description:
      'The amount that each node has reported to have taken beyond its expected part; negative = it took less.',
  }),
  /** Units that this node may take now; negative = so much has to come back first. */
  takeable: signed.meta({
    description: 'The amount that this node may take now; negative = so much has to come back first.',
  }),
  /** Milliseconds until work would pass if nobody else took anything; 0 = now. */
  passesInMs: count.meta({
    description: 'The milliseconds until a piece of work would pass if nobody else took anything; 0 = now.',
  }),
  /** True = the bucket is so small that the log gives pieces. */
  inPieces: yes.meta({ description: 'The bucket is so small that the log gives whole pieces.' }),
  /** True = this node wants more than its share: it gets nothing below the set point. */
  throttled: yes.meta({ description: 'This node wants more than its share: it is given nothing below the set point.' }),
};
/** The cluster's bucket in one dimension, in units, computed from the log. */
export interface ClusterBucketStatus extends AnswerOf<typeof CLUSTER_BUCKET_STATUS> {}

const BUCKET = record<ClusterBucketStatus>(CLUSTER_BUCKET_STATUS).nullable();
export const CLUSTER_BUCKET = record(
  { messages: BUCKET, bytes: BUCKET },
  'The bucket of the cluster; null where each node has a gate, and where the direction is not used here.',
).nullable();

const RAMP_STATUS = {
  mode: text,
  /** waiting = unused so far, or for the time to live. */
  state: oneOf(['waiting', 'climbing', 'top']),
  /** Messages/s that the ramp allows now. */
  ceiling: number,
  from: number,
  to: number,
  overMs: number,
};
/** State of a direction's ramp; messages/s. */
export interface RampStatus extends AnswerOf<typeof RAMP_STATUS> {}

export const RAMP_NOW = record<RampStatus>(
  RAMP_STATUS,
  'The ceiling of this direction’s ramp, in messages per second; null means that it has none.',
).nullable();

const LOCAL_STATUS = {
  /** False until the first use: nothing is computed for unused groups. */
  served: yes.meta({
    description: 'False until somebody uses the group at this node; until then nothing is computed for it here.',
  }),
  link: oneOf(['linked', 'held', 'fallback']),
  share: RATES,
  /** Messages since the start of the process. */
  admittedMessages: number,
  admittedBytes: number,
  attemptedMessages: number,
  attemptedBytes: number,
  refusedMessages: number,
  refusedBytes: number,
  /** Requests and connections held back now, instead of refused. */
  heldBack: count.meta({
    description: 'The number of requests and connections that are held back now instead of being refused.',
  }),
  /** Debt of accepted work, now. */
  debtMessages: number,
  debtBytes: number,
  /** Units of work that nobody pays for, since the start: beyond `debtMs` of debt, and not to be refused. */
  letOffMessages: number,
  letOffBytes: number,
};
/** State of one direction of a group at this node. */
export interface LocalStatus extends AnswerOf<typeof LOCAL_STATUS> {}

const NODE_SHARE_STATUS = {
  nodeId: text,
  self: yes,
  /** As last published; where tokens are shared no more than the share. */
  usage: RATES,
  /** As last published. */
  demand: RATES,
  /** Share by the strategy, computed here from the log. */
  share: RATES,
  /** Share that the node published as applied. */
  reportedShare: RATES,
  /** Topics that requests named there in ten seconds, as published; 10,000 = at least as many. */
  topics: count.meta({
    description:
      'Topics of the group that requests named there within ten seconds, as reported last; 10,000 = so many or more.',
  }),
  /** Milliseconds since its report; null = it has no entry for the group. */
  reportAgeMs: count.nullable(),
};
export interface NodeShareStatus extends AnswerOf<typeof NODE_SHARE_STATUS> {}

const STRICT_STATES = [
  'kept',
  'topic-lost',
  'topic-unsafe',
  'learning',
  'others-relaxed',
  'echo-missing',
  'clock-unsure',
  'between-periods',
] as const;
/** State of a strict lane; all but `kept` admit nothing. */
export type StrictLaneState = (typeof STRICT_STATES)[number];

const STRICT_STATUS = {
  state: oneOf(STRICT_STATES).meta({
    description: 'The state here: kept, or why this node cannot know what it may spend.',
  }),
  because: text.meta({ description: 'The reason for people; empty where the bucket is kept.' }),
  pool: count.meta({ description: 'The messages that wait in the log for whoever orders them.' }),
  held: count.meta({ description: 'The messages that this node may admit now.' }),
  holdMost: number.meta({ description: 'The most messages that the log lets this node hold.' }),
  streamPerSecond: number.meta({ description: 'The messages per second that flow to this node without orders.' }),
  depth: number,
  quotaPerSecond: number.meta({ description: 'The quota of the newest record of the log.' }),
  isInForce: yes.meta({ description: 'True = nobody can act by another quota, or by a former one, any more.' }),
  waitsFor: listOf(text).meta({
    description:
      'The nodes that hold more than they may by a lowered quota; it is in force when they return it, or are expired.',
  }),
  waiting: count,
  roundTripMs: number.meta({ description: 'The milliseconds from writing the last record to reading it back.' }),
  holders: listOf(record({ nodeId: text, hold: count, wantPerSecond: number })).meta({
    description: 'The nodes that hold messages, by the log: the most that each may hold, and what it wants.',
  }),
};
/** State of a strict bucket, as this node knows it. */
export interface StrictStatus extends AnswerOf<typeof STRICT_STATUS> {}

export const STRICT_NOW = record<StrictStatus>(
  STRICT_STATUS,
  'The strict bucket; null = the direction is not kept by one.',
).nullable();

const SLOTS_STATUS = {
  state: oneOf(STRICT_STATES).meta({
    description: 'The state here: kept, or why this node cannot know which slots it holds.',
  }),
  because: text.meta({ description: 'The reason for people; empty where the slots are known.' }),
  limit: count.meta({ description: 'The requests that may run at once, by the newest record of the log.' }),
  inUse: count.meta({ description: 'The requests that hold a slot at this node.' }),
  free: count.meta({ description: 'The slots that nobody uses: in the log, or held here.' }),
  held: count.meta({ description: 'The slots that this node holds, used or free.' }),
  lost: count.meta({
    description: 'The requests that run here although their slots may be others’, as this node may count as dead.',
  }),
  isInForce: yes.meta({
    description: 'True = no more run anywhere than the limit allows; false = a lowered one waits.',
  }),
  waitsFor: listOf(text).meta({ description: 'The nodes whose requests a lowered limit waits for.' }),
  waiting: count,
  roundTripMs: number.meta({ description: 'The milliseconds from writing the last record to reading it back.' }),
  holders: listOf(record({ nodeId: text, hold: count })).meta({
    description: 'The nodes that hold slots, by the log.',
  }),
};
/** Slots of a group, as this node knows them. */
export interface SlotsStatus extends AnswerOf<typeof SLOTS_STATUS> {}

export const SLOTS_NOW = record<SlotsStatus>(
  SLOTS_STATUS,
  'The slots of the group; null = it limits no concurrency.',
).nullable();

const BUDGET_STATUS = {
  state: oneOf(STRICT_STATES).meta({
    description: 'The state here: kept, or why this node cannot know what it may spend.',
  }),
  because: text.meta({ description: 'The reason for people; empty where the budget can be spent.' }),
  unit: oneOf(BUDGET_UNITS),
  per: oneOf(BUDGET_PERS),
  timezone: text,
  limit: number.meta({ description: 'What the period may spend, with what was carried over and given beside.' }),
  remaining: number.meta({ description: 'What nobody has spent: in the log, or held by this node.' }),
  spent: number.meta({ description: 'What is gone of the period, less what nodes may hold.' }),
  held: number.meta({ description: 'What nodes may hold, by the log: at most so much more is spent.' }),
  lost: number.meta({
    description: 'What killed nodes held in this period: nobody knows if they had spent it, so it counts as spent.',
  }),
  from: text.nullable().meta({ description: 'The beginning of the period, ISO 8601; null = none has begun.' }),
  until: text.nullable().meta({ description: 'The end of the period, ISO 8601; null = never, or none has begun.' }),
};
/** Budget of a group, as this node knows it. */
export interface BudgetStatus extends AnswerOf<typeof BUDGET_STATUS> {}

export const BUDGET_NOW = record<BudgetStatus>(
  BUDGET_STATUS,
  'The budget of the group; null = it has none.',
).nullable();

const DIRECTION_STATUS = {
  ...QUOTA,
  target: RATES,
  /** null = none. */
  ramp: RAMP_NOW,
  /** Cluster's bucket; null = each node has a gate, or the direction is unused here. Null in it = no quota, or 0. */
  clusterBucket: CLUSTER_BUCKET,
  /** Strict bucket; null = the direction is not kept by one. */
  strict: STRICT_NOW,
  /** Σ shares as this node computes them. */
  shareSum: RATES,
  local: record<LocalStatus>(LOCAL_STATUS),
  nodes: listOf(record<NodeShareStatus>(NODE_SHARE_STATUS)),
};
export interface DirectionStatus extends AnswerOf<typeof DIRECTION_STATUS> {}

const REFUSAL_REASONS = [...BINDINGS, 'bytes', 'isolated', 'own-limit', 'no-room', 'not-ready'] as const;
/**
 * Causes of a refusal. Of the group: the ceiling that its target was equal to, `bytes` of the byte quota, or `isolated`
 * where the node holds less because the topic is away. `own-limit`: a fixed limit of the node, a topic or a client.
 * `no-room`: too many topics or clients. `not-ready`: the node decides nothing.
 */
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

const REFUSAL_COUNT = {
  /** Null = the node decides nothing. */
  level: LEVEL.nullable(),
  dimension: REFUSED_UNIT.nullable(),
  reason: oneOf(REFUSAL_REASONS),
  count: number,
  lastAgoMs: number,
};
export interface RefusalCount extends AnswerOf<typeof REFUSAL_COUNT> {}

export const REFUSED_BECAUSE = listOf(record<RefusalCount>(REFUSAL_COUNT));

const SHADOW_DIFFERENCE = { requests: number, messages: number, bytes: number };
export interface ShadowDifference extends AnswerOf<typeof SHADOW_DIFFERENCE> {}

const DIFFERENCE = record<ShadowDifference>(SHADOW_DIFFERENCE);
const SHADOW_DIRECTION_STATUS = {
  ...QUOTA,
  /** Σ over the shadows of all nodes: admitted and requested, as last published. */
  usage: RATES,
  demand: RATES,
  /** Share of this node's shadow. */
  share: RATES,
  /** Messages since the start of the process. */
  admittedMessages: number,
  admittedBytes: number,
  refusedMessages: number,
  refusedBytes: number,
  /** Granted in force, refused by the shadow; of a part, what it would have left out. */
  wouldRefuse: DIFFERENCE.meta({ description: 'Granted in force, and the shadow would have refused it.' }),
  /** Refused in force, granted by the shadow, or in part. */
  wouldGrant: DIFFERENCE.meta({ description: 'Refused in force at once, and the shadow would have granted it.' }),
  /** Refusals of the shadow by level, dimension and reason, the newest first. */
  refusedBecause: REFUSED_BECAUSE,
};
export interface ShadowDirectionStatus extends AnswerOf<typeof SHADOW_DIRECTION_STATUS> {}

export const SHADOW_DIRECTION = record<ShadowDirectionStatus>(SHADOW_DIRECTION_STATUS);
const SHADOW_STATUS = {
  /** group = `mode: shadow` enforces nothing; planned = a plan beside what is in force (`shadow:`). */
  kind: oneOf(['group', 'planned']),
  strategy: text,
  directions: perDirection(SHADOW_DIRECTION),
};
/** Counts what would have been, had the shadow been enforced (docs/guide/shadow.md). */
export interface ShadowStatus extends AnswerOf<typeof SHADOW_STATUS> {}

export const ORIGIN = oneOf(['yaml', 'run-time']).meta({
  description: 'The place of the definition. A group that is defined at run time is in force whatever YAML says.',
});
export const REVISION = count.meta({
  description: 'The revision of the last change at run time; 0 means that there was none.',
});

export const GROUP_STATUS = {
  group: text,
  strategy: text,
  /** Promise that is kept here now. */
  promise: oneOf(['relaxed', 'strict']),
  /** Nodes that do not keep it strict yet; it waits for them. */
  strictAwaits: listOf(text).meta({
    description:
      'The nodes that do not say promise: strict yet; the group is relaxed until all do. Empty = none waits.',
  }),
  /** Budget of its period; null = it has none. */
  budget: BUDGET_NOW,
  /** False = nothing limits it here, whatever quotas YAML has for it. */
  enabled: yes,
  mode: oneOf(['enforce', 'shadow']),
  /** Counts of the shadow; null = the group is enforced, and nothing is planned. */
  shadow: record<ShadowStatus>(SHADOW_STATUS)
    .meta({
      description: 'The decisions that would have been; null = the group is enforced, and nothing is planned for it.',
    })
    .nullable(),
  /** Source of the definition in force; run-time hides YAML. */
  origin: ORIGIN,
  /** Revision of the last change at run time; 0 = none. */
  revision: REVISION,
  /** Slots of its requests; null = it limits no concurrency. */
  slots: SLOTS_NOW,
  directions: perDirection(record<DirectionStatus>(DIRECTION_STATUS)),
};
export interface GroupStatus extends AnswerOf<typeof GROUP_STATUS> {}

const KEY_REPORT = {
  nodeId: text,
  self: yes,
  usage: RATES,
  demand: RATES,
  /** Units published beyond the node's expected use since its first report. */
  charged: AMOUNTS,
  /** Milliseconds; null = the node spends it unpublished, as its heartbeats alone say. */
  reportAgeMs: integer.nullable(),
};
export interface KeyReport extends AnswerOf<typeof KEY_REPORT> {}

const RULE_ORIGIN = {
  place: text.meta({ description: 'File and line, or resource and path.' }),
  domain: text,
  descriptor: text,
};

/** Rule of Envoy that a group or template was made of; null = it was made of none. */
export const RULE = record(RULE_ORIGIN).nullable();

export const KEY_STATUS = {
  key: text,
  /** Pattern of its template. */
  template: text,
  /** Rule of Envoy that the template was made of; null = it was made of none. */
  rule: RULE,
  /** Quota of the whole cluster, as it is written. */
  quota: perDirection(QUOTA_AS_WRITTEN),
  /** False = unused at this node, or not lately. */
  used: yes,
  /** True = nobody publishes it, and this node may spend it unpublished. */
  silent: yes,
  /** Whole units that this node may still spend unpublished. Null in it = unlimited; null unless silent. */
  leftUnpublished: perDirection(AMOUNTS).nullable(),
  /** Whole units in the cluster's bucket as known here; null in it = unlimited. */
  remaining: perDirection(AMOUNTS).nullable(),
  group: record<GroupStatus>(GROUP_STATUS).nullable(),
  /** Last record of each node, the largest demand first; of a silent key, of nodes where it is among the busiest. */
  reports: perDirection(listOf(record<KeyReport>(KEY_REPORT))),
};
/** Reports what one node knows of a key, used or not. */
export interface KeyStatus extends AnswerOf<typeof KEY_STATUS> {}

const BUSY_ON_BACKEND = { group: text, direction: text, costPerSecond: number, busyness: number };

export const BACKEND_STATUS = {
  backend: text,
  zone: text,
  /** Part of its present work that it can bear; null = not near saturation, or silent. */
  throttlingRatio: number.nullable(),
  level: number.nullable(),
  target: number.nullable(),
  spring: number.nullable(),
  /** True = no health for limiting.healthValidMs: nothing is limited for it. */
  silent: yes,
  healthAgeMs: number,
  costPerSecond: number,
  /** Five at most; all are published (busy-watch.ts). */
  busiestGroups: listOf(record(BUSY_ON_BACKEND)),
};
/** Backend of `/v1/backends`. */
export interface BackendStatus extends AnswerOf<typeof BACKEND_STATUS> {}
