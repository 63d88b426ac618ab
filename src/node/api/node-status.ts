import type { RecordSignatures, TopicCounters } from '../../base/ports/report-topic.js';
import type { Direction } from '../../core/base/vocabulary.js';
import type { Binding } from '../../core/target/target-rate.js';
import type { ShadowStatus } from './shadow-status.js';

/** What a node tells about itself: `/v1/nodes`, `/readyz`, metrics and the status command read it. */
export interface NodeStatus {
  readonly cluster: string;
  readonly nodeId: string;
  readonly version: string;
  readonly incarnation: number;
  readonly phase: string;
  readonly ready: boolean;
  /** Why the node is not ready; empty when it is. */
  readonly notReadyBecause: readonly string[];
  /** What is not as it should be although the node is ready, e.g. `isolated: partition 0, silent for 4210 ms`. */
  readonly degraded: readonly string[];
  readonly uptimeMs: number;
  readonly members: readonly MemberStatus[];
  readonly topic: TopicStatus;
  readonly registry: RegistryStatus;
  /** By template, since the start. */
  readonly keys: readonly TemplateStatus[];
  /** One entry per topic; empty where records are not signed. */
  readonly signatures: readonly SignatureStatus[];
  readonly configuration: ConfigurationStatus;
  readonly rounds: number;
  /** From appending the last own report to reading it back; 0 before the first. */
  readonly reportRoundTripMs: number;
  /**
   * How long the last rebalancing took: from the first share that moved until the last, with 300 ms of rest after it.
   */
  readonly lastRebalancingMs: number;
  /** What groups of strategy equal divide by; null = there are none. */
  readonly pool: PoolStatus | null;
  readonly recordsIgnored: Readonly<Record<string, number>>;
  /** Calls of the telemetry that failed; their lines are lost. */
  readonly telemetryFailures: number;
  /** Lanes served here that saturated backends hold below their quota; the first 20 by name. */
  readonly busyLanes: number;
  readonly busyGroups: readonly BusyGroupStatus[];
}

export interface BusyGroupStatus {
  readonly group: string;
  readonly direction: Direction;
  /** What the target is equal to: `limiting`, or what is never taken away: `reserved`, `minimum`. */
  readonly binding: Binding;
  /** Null in report-only without a message quota: nothing is enforced. */
  readonly targetMessagesPerSecond: number | null;
}

export interface PoolStatus {
  readonly size: number;
  /** Every member has said so; until then the size does not fall, and newcomers wait. */
  readonly agreed: boolean;
}

export interface MemberStatus {
  readonly nodeId: string;
  readonly incarnation: number;
  readonly state: 'alive' | 'left' | 'expired';
  readonly self: boolean;
  /** Since its last sign of life was read here. */
  readonly silentMs: number;
  readonly version: string;
}

export interface TopicStatus {
  readonly kind: string;
  readonly partitions: number;
  /** The name of the log that is read; null before the first one. */
  readonly epoch: string | null;
  /** How often the log turned out to be another one since this process started. */
  readonly epochChanges: number;
  /** Null while the topic works. */
  readonly lost: string | null;
  /** Per partition, the offset that is read next. */
  readonly offsets: readonly number[];
  readonly pendingAppends: number;
  readonly counters: TopicCounters;
}

/** The groups that were defined at run time. */
export interface RegistryStatus {
  readonly enabled: boolean;
  /** All that was in its topic at the start has been read. */
  readonly ready: boolean;
  /** Null while its topic works. */
  readonly lost: string | null;
  /** The name of the log that is read, and how often it turned out to be another one. */
  readonly epoch: string | null;
  readonly epochChanges: number;
  /** After the last record read. */
  readonly offset: number;
  readonly groups: number;
  /** Groups whose definition this node cannot use. */
  readonly refused: readonly string[];
  readonly recordsIgnored: number;
}

/** Whether records are of this cluster (topic.hmac). */
export interface SignatureStatus extends Omit<RecordSignatures, 'sinceUnverifiedMs'> {
  readonly log: 'reports' | 'registry';
}

/** What became of the YAML since the start. */
export interface ConfigurationStatus {
  /** The file or folder. */
  readonly source: string;
  /** Times that it was read again, and taken. */
  readonly taken: number;
  /** Times that it had a mistake. */
  readonly refused: number;
  /** The first mistake of the files as they are now; null = there is none. */
  readonly refusedBecause: string | null;
  /** Settings that the files have differently from what is in force. */
  readonly needsRestart: readonly string[];
  /** Groups that other nodes' YAML has otherwise, or not at all; the first 20 by name. */
  readonly differingGroups: number;
  readonly differs: readonly { readonly group: string; readonly nodes: readonly string[] }[];
  /** Groups, key templates and scopes of the files that definitions of run time hide; the first 20 by name. */
  readonly hiddenByRunTime: number;
  readonly hidden: readonly string[];
}

/** Rates as YAML would write them: 5 per second, or `5/min`. */
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
  /** False: nothing limits it here, whatever quotas YAML has for it. */
  readonly enabled: boolean;
  /** shadow: decisions are made and counted, and refuse nothing. */
  readonly mode: 'enforce' | 'shadow';
  /** What would have been; null = the group is enforced, and nothing is planned for it. */
  readonly shadow: ShadowStatus | null;
  /** run-time: the definition of the registry is in force, whatever YAML says. */
  readonly origin: 'yaml' | 'run-time';
  /** The revision of the last change at run time; 0 = there was none. */
  readonly revision: number;
  readonly directions: Readonly<Record<'publish' | 'dispatch', DirectionStatus>>;
}

export interface DirectionStatus {
  readonly quota: RateStatus;
  readonly quotaAsWritten: QuotaAsWritten;
  readonly target: RateStatus;
  /** null = none. */
  readonly ramp: RampStatus | null;
  /**
   * The bucket of the cluster; null where each node has a gate, and where the direction is not used here. In it, null =
   * the dimension has no quota, or one of 0.
   */
  readonly clusterBucket: {
    readonly messages: ClusterBucketStatus | null;
    readonly bytes: ClusterBucketStatus | null;
  } | null;
  /** Σ of the shares as this node computes them. */
  readonly shareSum: RateStatus;
  readonly local: LocalStatus;
  readonly nodes: readonly NodeShareStatus[];
}

/** The bucket of the whole cluster in one dimension as this node computes it from the log, in units. */
export interface ClusterBucketStatus {
  /** In it now; negative = a debt. */
  readonly tokens: number;
  readonly depth: number;
  /** What a busy bucket returns to. */
  readonly setPoint: number;
  /** The cluster is given so much more than the target, or less, until the bucket holds the set point. */
  readonly correctionPerSecond: number;
  /** What all nodes are expected to take together, and what of it this one. */
  readonly expectedPerSecond: number;
  readonly ownExpectedPerSecond: number;
  /** What this node took beyond that, and the log does not know; negative = it took less than the log knows. */
  readonly unheard: number;
  /**
   * What each node has told to have taken beyond what was expected of it, since its entry in the log began; negative =
   * it took less. Nodes that have told nothing are missing.
   */
  readonly charged: readonly { readonly nodeId: string; readonly units: number }[];
  /** What this node may take now; negative = so much has to come back first. */
  readonly takeable: number;
  /** When a piece of work would pass if nobody else took anything; 0 = now. */
  readonly passesInMs: number;
  /** The bucket is so small that the log gives whole pieces. */
  readonly inPieces: boolean;
  /** This node wants more than its share: it is given nothing below the set point. */
  readonly throttled: boolean;
}

/** What this node does for one direction of a group. */
export interface LocalStatus {
  /** False until the first use: nothing is computed for a group that nobody uses here. */
  readonly served: boolean;
  readonly link: 'linked' | 'held' | 'fallback';
  readonly share: RateStatus;
  /** What a gate enforces. Where the cluster has a bucket, that decides (clusterBucket). */
  readonly limit: RateStatus;
  /** Since the start of the process. */
  readonly admittedMessages: number;
  readonly admittedBytes: number;
  readonly attemptedMessages: number;
  readonly attemptedBytes: number;
  readonly refusedMessages: number;
  readonly refusedBytes: number;
  /** Asks and connections that are held back now, instead of refused. */
  readonly heldBack: number;
  /** What accepted work has left as debt, now. */
  readonly debtMessages: number;
  readonly debtBytes: number;
  /** Units of work that could not be refused beyond `debtMs` of debt, since the start: nobody pays for them. */
  readonly letOffMessages: number;
  readonly letOffBytes: number;
}

export interface NodeShareStatus {
  readonly nodeId: string;
  readonly self: boolean;
  /** As reported last; where tokens are shared no more than the share. */
  readonly usage: RateStatus;
  /** As reported last. */
  readonly demand: RateStatus;
  /** What the strategy gives it, computed here from the log. */
  readonly share: RateStatus;
  /** What it reported to apply. */
  readonly reportedShare: RateStatus;
  /** Topics of the group that requests named there in ten seconds, as reported last; 10,000 = at least as many. */
  readonly topics: number;
  /** Age of its report here; null when it has no entry for the group. */
  readonly reportAgeMs: number | null;
}

/** Where the ramp of a direction stands; messages/s. */
export interface RampStatus {
  readonly mode: string;
  /** waiting: nobody has used the group yet, or not for the time to live; climbing; top. */
  readonly state: 'waiting' | 'climbing' | 'top';
  /** What the ramp allows now. */
  readonly ceiling: number;
  readonly from: number;
  readonly to: number;
  readonly overMs: number;
}

/** Keys of one template at this node. */
export interface TemplateStatus {
  readonly template: string;
  readonly live: number;
  /** Keys that are groups like any other now. */
  readonly loud: number;
  readonly made: number;
  readonly forgotten: number;
  /** Requests refused because there was no room for their key. */
  readonly refused: number;
  /** Requests refused by the quota of their key. */
  readonly overQuota: number;
  /** Limits that came with requests and were refused: LIMIT_DENIED, LIMIT_INVALID. */
  readonly limitsRefused: number;
  /** Requests granted without telling others. */
  readonly granted: number;
}
