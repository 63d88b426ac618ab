import type { RecordSignatures, TopicCounters } from '../../base/ports/report-topic.js';
import type { Direction } from '../../core/base/vocabulary.js';
import type { Binding } from '../../core/target/target-rate.js';
import type { PerDimension } from './decision.js';
import type { RefusalCount } from './group-explanation.js';

/** Status of a node, for `/v1/nodes`, `/readyz`, metrics and the status command. */
export interface NodeStatus {
  readonly cluster: string;
  readonly nodeId: string;
  readonly version: string;
  readonly incarnation: number;
  readonly phase: string;
  readonly ready: boolean;
  /** Reasons why it is not ready; empty when it is. */
  readonly notReadyBecause: readonly string[];
  /** Faults beside which the node stays ready, e.g. `isolated: partition 0, silent for 4210 ms`. */
  readonly degraded: readonly string[];
  readonly uptimeMs: number;
  readonly members: readonly MemberStatus[];
  readonly topic: TopicStatus;
  readonly registry: RegistryStatus;
  /** Counts since the start, by template. */
  readonly keys: readonly TemplateStatus[];
  /** One entry per topic; empty = records are not signed. */
  readonly signatures: readonly SignatureStatus[];
  readonly configuration: ConfigurationStatus;
  readonly rounds: number;
  /** Milliseconds from appending the last own report to reading it back; 0 before the first. */
  readonly reportRoundTripMs: number;
  /** Milliseconds of the last rebalancing, from the first share that moved to the last, with 300 ms of rest. */
  readonly lastRebalancingMs: number;
  /** Number by which groups of strategy equal divide; null = there are none. */
  readonly pool: PoolStatus | null;
  readonly recordsIgnored: Readonly<Record<string, number>>;
  /** Failed calls of the telemetry; their lines are lost. */
  readonly telemetryFailures: number;
  /** Lanes served here that saturated backends hold below their quota; `…` the first 20 by name. */
  readonly busyLanes: number;
  readonly busyGroups: readonly BusyGroupStatus[];
}

export interface BusyGroupStatus {
  readonly group: string;
  readonly direction: Direction;
  /** Ceiling that the target is equal to, or the part never taken away: `reserved`, `minimum`. */
  readonly binding: Binding;
  /** Messages/s; null = report-only without a message quota: nothing is enforced. */
  readonly targetMessagesPerSecond: number | null;
}

export interface PoolStatus {
  readonly size: number;
  /** True = every member agrees; until then the size does not fall, and newcomers wait. */
  readonly agreed: boolean;
}

export interface MemberStatus {
  readonly nodeId: string;
  readonly incarnation: number;
  readonly state: 'alive' | 'left' | 'expired';
  readonly self: boolean;
  /** Milliseconds since its last record was read here. */
  readonly silentMs: number;
  readonly version: string;
}

export interface TopicStatus {
  readonly kind: string;
  readonly partitions: number;
  /** Name of the log; null before the first one. */
  readonly epoch: string | null;
  /** Times since the start that the log was replaced. */
  readonly epochChanges: number;
  /** Reason; null = the topic works. */
  readonly lost: string | null;
  /** Next offset per partition. */
  readonly offsets: readonly number[];
  readonly pendingAppends: number;
  readonly counters: TopicCounters;
}

/** State of the groups that were defined at run time. */
export interface RegistryStatus {
  readonly enabled: boolean;
  /** True = all that its topic held at the start is read. */
  readonly ready: boolean;
  /** Reason; null = its topic works. */
  readonly lost: string | null;
  /** Name of the log. */
  readonly epoch: string | null;
  readonly epochChanges: number;
  /** Offset behind the last record read. */
  readonly offset: number;
  readonly groups: number;
  /** Groups whose definition this node cannot use. */
  readonly refused: readonly string[];
  readonly recordsIgnored: number;
}

/** Verification of records (topic.hmac). */
export interface SignatureStatus extends Omit<RecordSignatures, 'sinceUnverifiedMs'> {
  readonly log: 'reports' | 'registry';
}

/** State of the YAML since the start. */
export interface ConfigurationStatus {
  /** The file or folder. */
  readonly source: string;
  readonly taken: number;
  readonly refused: number;
  /** First mistake of the files as they are now; null = none. */
  readonly refusedBecause: string | null;
  /** Settings whose new values in the files are not in force. */
  readonly needsRestart: readonly string[];
  /** Groups that other nodes' YAML lacks or has otherwise; names: the first 20. */
  readonly differingGroups: number;
  readonly differs: readonly { readonly group: string; readonly nodes: readonly string[] }[];
  readonly hiddenByRunTime: number;
  readonly hidden: readonly string[];
}

/** Rates as YAML writes them: 5 per second, or `5/min`. */
export type QuotaAsWritten = Readonly<Record<string, number | string>>;

/** Rates in units per second; null = no quota (unlimited). */
export interface RateStatus {
  readonly messagesPerSecond: number | null;
  readonly bytesPerSecond: number | null;
}

export interface GroupStatus {
  readonly group: string;
  readonly strategy: string;
  readonly promise: 'relaxed';
  /** False = nothing limits it here, whatever quotas YAML has for it. */
  readonly enabled: boolean;
  readonly mode: 'enforce' | 'shadow';
  /** Counts of the shadow; null = the group is enforced, and nothing is planned. */
  readonly shadow: ShadowStatus | null;
  /** Source of the definition in force; run-time hides YAML. */
  readonly origin: 'yaml' | 'run-time';
  /** Revision of the last change at run time; 0 = none. */
  readonly revision: number;
  readonly directions: Readonly<Record<'publish' | 'dispatch', DirectionStatus>>;
}

export interface DirectionStatus {
  readonly quota: RateStatus;
  readonly quotaAsWritten: QuotaAsWritten;
  readonly target: RateStatus;
  /** null = none. */
  readonly ramp: RampStatus | null;
  /** Cluster's bucket; null = each node has a gate, or the direction is unused here. Null in it = no quota, or 0. */
  readonly clusterBucket: {
    readonly messages: ClusterBucketStatus | null;
    readonly bytes: ClusterBucketStatus | null;
  } | null;
  /** Σ shares as this node computes them. */
  readonly shareSum: RateStatus;
  readonly local: LocalStatus;
  readonly nodes: readonly NodeShareStatus[];
}

/** The cluster's bucket in one dimension, computed here from the log, in units. */
export interface ClusterBucketStatus {
  /** Tokens now; negative = a debt. */
  readonly tokens: number;
  readonly depth: number;
  /** Tokens that a busy bucket returns to. */
  readonly setPoint: number;
  /** Units/s given beyond the target, or below it, until the bucket holds the set point. */
  readonly correctionPerSecond: number;
  /** Units/s that all nodes are expected to take together; this node's part. */
  readonly expectedPerSecond: number;
  readonly ownExpectedPerSecond: number;
  /** Units that this node took beyond that and has not published; negative = it took less. */
  readonly unread: number;
  /**
   * Units that each node published beyond what was expected of it, since its entry began; negative = less. Nodes that
   * published nothing are missing.
   */
  readonly charged: readonly { readonly nodeId: string; readonly units: number }[];
  /** Units that this node may take now; negative = so much has to come back first. */
  readonly takeable: number;
  /** Milliseconds until work would pass if nobody else took anything; 0 = now. */
  readonly passesInMs: number;
  /** True = the bucket is so small that the log gives whole pieces. */
  readonly inPieces: boolean;
  /** True = this node wants more than its share, and gets nothing below the set point. */
  readonly throttled: boolean;
}

/** State of one direction of a group at this node. */
export interface LocalStatus {
  /** False until the first use: nothing is computed for unused groups. */
  readonly served: boolean;
  readonly link: 'linked' | 'held' | 'fallback';
  readonly share: RateStatus;
  readonly limit: RateStatus;
  /** Messages since the start of the process. */
  readonly admittedMessages: number;
  readonly admittedBytes: number;
  readonly attemptedMessages: number;
  readonly attemptedBytes: number;
  readonly refusedMessages: number;
  readonly refusedBytes: number;
  /** Requests and connections held back now, instead of refused. */
  readonly heldBack: number;
  /** Debt of accepted work, now. */
  readonly debtMessages: number;
  readonly debtBytes: number;
  /** Units beyond `debtMs` of debt of work that could not be refused, since the start: nobody pays for them. */
  readonly letOffMessages: number;
  readonly letOffBytes: number;
}

export interface NodeShareStatus {
  readonly nodeId: string;
  readonly self: boolean;
  /** As last published; where tokens are shared no more than the share. */
  readonly usage: RateStatus;
  /** As last published. */
  readonly demand: RateStatus;
  /** Share by the strategy, computed here from the log. */
  readonly share: RateStatus;
  /** Share that the node published as applied. */
  readonly reportedShare: RateStatus;
  /** Topics that requests named there in ten seconds, as published; 10,000 = at least as many. */
  readonly topics: number;
  /** Milliseconds since its report; null = it has no entry for the group. */
  readonly reportAgeMs: number | null;
}

/** State of a direction's ramp; messages/s. */
export interface RampStatus {
  readonly mode: string;
  /** waiting = unused so far, or for the time to live. */
  readonly state: 'waiting' | 'climbing' | 'top';
  /** Messages/s that the ramp allows now. */
  readonly ceiling: number;
  readonly from: number;
  readonly to: number;
  readonly overMs: number;
}

/** Counts of one template's keys at this node. */
export interface TemplateStatus {
  readonly template: string;
  readonly live: number;
  /** Keys that are groups like any other now. */
  readonly loud: number;
  readonly made: number;
  readonly forgotten: number;
  /** Requests refused for want of room for their key. */
  readonly refused: number;
  /** Requests refused by the quota of their key. */
  readonly overQuota: number;
  /** Limits in requests that were refused: LIMIT_DENIED, LIMIT_INVALID. */
  readonly limitsRefused: number;
  readonly granted: number;
}

/** Counts what would have been, had the shadow been enforced (docs/guide/shadow.md). */
export interface ShadowStatus {
  /** group = `mode: shadow` enforces nothing; planned = a plan beside what is in force (`shadow:`). */
  readonly kind: 'group' | 'planned';
  readonly strategy: string;
  readonly directions: Readonly<Record<Direction, ShadowDirectionStatus>>;
}

export interface ShadowDirectionStatus {
  readonly quota: RateStatus;
  readonly quotaAsWritten: QuotaAsWritten;
  /** Σ over the shadows of all nodes: admitted and requested, as last published. */
  readonly usage: RateStatus;
  readonly demand: RateStatus;
  /** Share of this node's shadow. */
  readonly share: RateStatus;
  /** Messages since the start of the process. */
  readonly admittedMessages: number;
  readonly admittedBytes: number;
  readonly refusedMessages: number;
  readonly refusedBytes: number;
  /** Granted in force, refused by the shadow; of a part, what it would have left out. */
  readonly wouldRefuse: ShadowDifference;
  /** Refused in force, granted by the shadow, or in part. */
  readonly wouldGrant: ShadowDifference;
  /** Refusals of the shadow by level, dimension and reason, the newest first. */
  readonly refusedBecause: readonly RefusalCount[];
}

export interface ShadowDifference {
  readonly requests: number;
  readonly messages: number;
  readonly bytes: number;
}

/** Reports what one node knows of a key, whether it uses it or not. */
export interface KeyStatus {
  readonly key: string;
  /** Pattern of its template. */
  readonly template: string;
  /** Quota of the whole cluster, as it is written. */
  readonly quota: Readonly<Record<'publish' | 'dispatch', QuotaAsWritten>>;
  /** False = unused at this node, or not lately. */
  readonly used: boolean;
  /** True = nobody publishes it, and this node may spend it unpublished. */
  readonly silent: boolean;
  /** Whole units that this node may still spend unpublished, null in it = unlimited; null unless silent. */
  readonly leftUnpublished: Readonly<Record<'publish' | 'dispatch', PerDimension>> | null;
  /** Whole units in the cluster's bucket as far as this node knows, null in it = unlimited. */
  readonly remaining: Readonly<Record<'publish' | 'dispatch', PerDimension>> | null;
  readonly group: GroupStatus | null;
  /** Last record of each node, the largest demand first; of a silent key, of nodes where it is among the busiest. */
  readonly told: Readonly<Record<'publish' | 'dispatch', readonly KeyTold[]>>;
}

export interface KeyTold {
  readonly nodeId: string;
  readonly self: boolean;
  readonly usage: RateStatus;
  readonly demand: RateStatus;
  /** Units that the node published beyond what was expected of it, since its first report. */
  readonly charged: PerDimension;
  /** Milliseconds; null = the node spends it unpublished, as its heartbeats alone say. */
  readonly reportAgeMs: number | null;
}
