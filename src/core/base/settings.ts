import {
  DIMENSIONS,
  DIRECTIONS,
  type Dimension,
  type Direction,
  type Headroom,
  type IsolationPolicy,
  MEMBERSHIP_PARTITION,
  type NodeId,
  type Rates,
} from './vocabulary.js';

/** Facts of a group that the core needs; `src/config` fills every field from YAML and the settings table. */
export interface GroupSettings {
  readonly name: string;
  /** Cluster-wide quota per direction; Infinity = unlimited, 0 = blocked. */
  readonly quota: Readonly<Record<Direction, Rates>>;
  /** Cluster-wide cost quota per direction, units per second; Infinity and 0 = none. */
  readonly cost: Readonly<Record<Direction, CostQuota>>;
  /** Assumed cost of a message until its cost is known, > 0. */
  readonly expectedCost: number;
  /** A ceiling that rises with use or time; null = none. */
  readonly ramp: RampSettings | null;
  /** A row of the strategy registry. */
  readonly strategy: string;
  /** Divisor of `equal` if no log tells how many nodes there are; 0 = the pool that the nodes agree on. */
  readonly nodeCount: number;
  /** Sum of all nodes' floors as a part of the target, 0 … 1. A node without demand keeps its floor. */
  readonly floorRatio: number;
  /** Divides the part of the target that nobody wants. */
  readonly headroom: Headroom;
  /** Time constant with which a share approaches its new value, milliseconds of log time; 0 = at once. */
  readonly smoothingMs: number;
  /** Most that a share rises per second of log time, as a part of the target; Infinity = at once. */
  readonly slewPerSecond: number;
  /** Bounds of every single node's share, as parts of the target, 0 … 1. */
  readonly minShareRatio: number;
  readonly maxShareRatio: number;
  /** The depth of the cluster's bucket (core/tokens), where there is one. */
  readonly burst: BurstSettings;
  /** Debt that work may leave that cannot be refused, in milliseconds of the limit. */
  readonly debtMs: number;
  /** Weights of single nodes in the water-filling; absent = 1. */
  readonly weights: Readonly<Record<NodeId, number>>;
  /** Enforces the share: a token bucket, or whole tokens per window (limiter/window.ts). */
  readonly limiter: LimiterKind;
  /** Length of a window, milliseconds > 0. */
  readonly windowMs: number;
  /** Divides a node's share over its own topics (PIP-82, "Rate limiting across topics/partitions"). */
  readonly topics: TopicSplitName;
  readonly isolation: { readonly policy: IsolationPolicy; readonly holdMs: number };
}

export const TOPIC_SPLITS = ['shared', 'even', 'proportional'] as const;
export type TopicSplitName = (typeof TOPIC_SPLITS)[number];

/**
 * optimistic: while the bucket is full, a node takes of it at once, each min(1, 2/(N − 1)) of what is there. divided:
 * each depth/N.
 */
export const BURST_POLICIES = ['optimistic', 'divided'] as const;
export type BurstPolicy = (typeof BURST_POLICIES)[number];

/** full: a bucket of which the log says nothing is full. empty: it is empty when a node begins to decide. */
export const BURST_STARTS = ['full', 'empty'] as const;
export type BurstStart = (typeof BURST_STARTS)[number];

export interface BurstSettings {
  /** Units, in both directions; null = as `ofQuota` says. */
  readonly messages: number | null;
  readonly bytes: number | null;
  /** Units that are a part of the quota; null and absent = by the target (core/account/cluster-depth.ts). */
  readonly ofQuota?: Readonly<Record<Direction, Readonly<Record<Dimension, number | null>>>>;
  readonly policy: BurstPolicy;
  /** Absent = full. */
  readonly start?: BurstStart;
}

/** The depth that is configured for one dimension of a lane, units; null = none is. */
export function depthGiven(burst: BurstSettings, direction: number, dimension: number): number | null {
  const [side, unit] = [DIRECTIONS[direction], DIMENSIONS[dimension]];
  return burst[unit] ?? burst.ofQuota?.[side][unit] ?? null;
}

export const LIMITERS = ['bucket', 'window'] as const;
export type LimiterKind = (typeof LIMITERS)[number];

export interface CostQuota {
  readonly total: number;
  /** The part that saturated backends never take away, ≤ total. */
  readonly reserved: number;
}

/** Lowers targets by backends' health; all nodes of a cluster must agree. */
export interface LimitingSettings {
  /** report-only computes and shows the target stage, and enforces message and byte quotas alone. */
  readonly mode: LimitingMode;
  readonly split: LimitingSplit;
  /** This many of the worst zones limit nothing. */
  readonly zonesLeftOut: number;
  /** A backend that carries less than this part of a group's cost does not limit it, 0 … 1. */
  readonly contributionRatio: number;
  /** Log time for which a backend's last word holds. */
  readonly healthValidMs: number;
  /** Time constant with which the node that reports a backend follows its level; 0 = at once. */
  readonly levelSmoothingMs: number;
  readonly maxBackends: number;
}

export const LIMITING_MODES = ['enforce', 'report-only'] as const;
export type LimitingMode = (typeof LIMITING_MODES)[number];

/** Times in milliseconds, of the local monotonic clock unless the name says log time. */
export interface CoordinatorSettings {
  readonly cluster: string;
  readonly nodeId: NodeId;
  /** Version of the program, for the NODE record. */
  readonly version: string;
  /** Random 16-bit number that decides between two processes that choose the same incarnation. */
  readonly nonce: number;
  /** Random 32-bit number that nobody is shown (keyed-hash.ts). Absent = nobody chooses ids, as in simulations. */
  readonly hashSeed?: number;
  readonly partitions: number;
  /**
   * Interval between NODE records on the membership partition (0). Log time advances by at most twice this per record.
   */
  readonly heartbeatMs: number;
  /** Interval between NODE records on every other partition. */
  readonly partitionHeartbeatMs: number;
  /** A node silent for this much log time is gone. */
  readonly stalenessMs: number;
  /** Shortest time between two reports of the same bundle. */
  readonly reportGapMs: number;
  /** Reports that this node writes per second at most, over all its groups; see report/report-budget.ts. */
  readonly maxReportsPerSecond: number;
  /** Unchanged groups are reported again after this time (anti-entropy). */
  readonly forcedReportMs: number;
  /** Relative change that counts as significant, 0 … 1. */
  readonly significantChangeRatio: number;
  /** z of the noise rule: change > z standard deviations (sample/significant-change.ts). */
  readonly noiseFactor: number;
  /** Length of a round: the runtime gives `round-elapsed` this often. */
  readonly sampleIntervalMs: number;
  readonly fastSpanMs: number;
  readonly slowSpanMs: number;
  /** Own echo missing for this long = isolated. */
  readonly isolationAfterMs: number;
  /** A share that the coordinator has not confirmed for this long is void, because the event loop has slept. */
  readonly shareValidMs: number;
  /** Keys of a node gone for this much log time are freed by tombstones. */
  readonly forgetAfterMs: number;
  /** Node ids that the usage map knows at once, the same at all nodes; absent = no bound. */
  readonly maxNodes?: number;
  /** Rows of the usage map at once (see usage-map/row-bounds.ts), the same at all nodes; absent = no bound. */
  readonly maxRows?: number;
  /** Groups that one node may have in use at once, the same at all nodes; absent = no bound. */
  readonly maxGroupsPerNode?: number;
  /** Groups that share one record of a node, 1 … 64. */
  readonly groupsPerRecord: number;
  readonly limiting: LimitingSettings;
  readonly costs: CostMeterSettings;
  readonly groups: readonly GroupSettings[];
}

export const RAMP_MODES = ['relaxed', 'scheduled', 'only-if-used', 'go-back-n'] as const;

export type RampModeName = (typeof RAMP_MODES)[number];

/** A ceiling that rises from X to Y in t (Numaflow, "ramp up"), for every direction of a group that has a quota. */
export interface RampSettings {
  readonly mode: RampModeName;
  /** Messages/s of the whole cluster at the start. */
  readonly fromPerSecond: number;
  /** Messages/s of the whole cluster at the top; null = the direction's message quota. */
  readonly toPerSecond: number | null;
  /** Log time that the rise from `fromPerSecond` to `toPerSecond` takes. */
  readonly overMs: number;
  /** A second counts as used if at least this part of the ceiling was used, 0 … 1 (only-if-used, go-back-n). */
  readonly thresholdRatio: number;
  /** A longer pause than this costs height (go-back-n), log time. */
  readonly coolDownMs: number;
  /** Each second of such a pause lowers the ceiling by this part of a second's rise, 0 … 1 (go-back-n). */
  readonly pausePenaltyRatio: number;
  /** A ceiling that nobody used for this much log time is forgotten, and the ramp begins anew. */
  readonly timeToLiveMs: number;
}

export interface CostMeterSettings {
  /** Time constant of average costs (FoundationDB: 10 s; 60 s was too slow, PR #10361); rates follow in half of it. */
  readonly smoothingMs: number;
  /** A lane without costs for this long is forgotten (FoundationDB: 240 s). */
  readonly forgetAfterMs: number;
  /** The most lanes whose costs are kept; costs of further lanes are refused. */
  readonly maxLanes: number;
  /** Smaller costs are counted with a probability by their size (core/target/cost-sampler.ts); 0 = all are counted. */
  readonly sampleUnits: number;
  /** Draws uniformly from [0, 1); absent = always the middle, which is bounded but not unbiased. */
  readonly random?: () => number;
}

/** Divides a saturated backend's work among the groups on it. */
export const LIMITING_SPLITS = ['by-usage', 'by-quota'] as const;

export type LimitingSplit = (typeof LIMITING_SPLITS)[number];

/** Somebody writes so often on a partition, if nothing else does. */
export function heartbeatOf({ heartbeatMs, partitionHeartbeatMs }: Heartbeats, partition: number): number {
  return partition === MEMBERSHIP_PARTITION ? heartbeatMs : Math.max(heartbeatMs, partitionHeartbeatMs);
}

type Heartbeats = Pick<CoordinatorSettings, 'heartbeatMs' | 'partitionHeartbeatMs'>;

/** Length of the group's windows; 0 = it has a token bucket. */
export function windowMsOf({
  limiter,
  windowMs,
}: {
  readonly limiter: LimiterKind;
  readonly windowMs: number;
}): number {
  return limiter === 'window' ? windowMs : 0;
}

/** The most node ids that a cluster can be configured for; a record that claims a larger pool is not read. */
export const NODES_MAX = 100_000;
