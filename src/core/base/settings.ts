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

/** Facts of a group that the core needs; `src/config` fills every field. */
export interface GroupSettings {
  readonly name: string;
  /** Cluster-wide quota per direction; Infinity = unlimited, 0 = blocked. */
  readonly quota: Readonly<Record<Direction, Rates>>;
  /** Cluster-wide cost quota per direction, units per second; Infinity and 0 = none. */
  readonly cost: Readonly<Record<Direction, CostQuota>>;
  /** Assumed cost of a message until its cost is known, > 0. */
  readonly expectedCost: number;
  /** Ceiling that rises with use or time; null = none. */
  readonly ramp: RampSettings | null;
  /** Name in the registry of strategies. */
  readonly strategy: string;
  /** Divisor of `equal` without a log; 0 = the pool that the nodes agree on. */
  readonly nodeCount: number;
  /** Sum of all nodes' floors as a part of the target. A node without demand keeps its floor. */
  readonly floorRatio: number;
  /** Rule for the part of the target that nobody wants. */
  readonly headroom: Headroom;
  /** Log time constant with which shares approach new values, milliseconds; 0 = at once. */
  readonly smoothingMs: number;
  /** Most rise of a share per second of log time. A part of the target; Infinity = at once. */
  readonly slewPerSecond: number;
  /** Bounds of each node's share, as parts of the target. */
  readonly minShareRatio: number;
  readonly maxShareRatio: number;
  /** Depth of the cluster's bucket (core/account), where there is one. */
  readonly burst: BurstSettings;
  /** Debt of work that cannot be refused, in milliseconds of the limit. */
  readonly debtMs: number;
  /** Weights of single nodes in the water-filling; absent = 1. */
  readonly weights: Readonly<Record<NodeId, number>>;
  /** Kind of limit: a token bucket, or whole tokens per window (limiter/window.ts). */
  readonly limiter: LimiterKind;
  /** Length of a window, milliseconds > 0. */
  readonly windowMs: number;
  /** Division of a share over topics (PIP-82, "Rate limiting across topics/partitions"). */
  readonly topics: TopicSplitName;
  readonly isolation: { readonly policy: IsolationPolicy; readonly holdMs: number };
}

export const TOPIC_SPLITS = ['shared', 'even', 'proportional'] as const;
export type TopicSplitName = (typeof TOPIC_SPLITS)[number];

/**
 * Parts of a full bucket that a node takes at once. optimistic: min(1, 2/(N − 1)) of the tokens in it; divided:
 * depth/N.
 */
export const BURST_POLICIES = ['optimistic', 'divided'] as const;

/** State of a bucket before the log names one. full: it is full. empty: it is empty when a node begins to decide. */
export const BURST_STARTS = ['full', 'empty'] as const;

export interface BurstSettings {
  /** Units, in both directions; null = by `ofQuota`. */
  readonly messages: number | null;
  readonly bytes: number | null;
  /** Units as a part of the quota; null and absent = by the target (core/account/cluster-depth.ts). */
  readonly ofQuota?: Readonly<Record<Direction, Readonly<Record<Dimension, number | null>>>>;
  readonly policy: (typeof BURST_POLICIES)[number];
  /** Absent = full. */
  readonly start?: (typeof BURST_STARTS)[number];
}

/** Reads the configured depth of a lane's dimension, units; null = none. */
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
  /** report-only shows the target stage, but enforces message and byte quotas alone. */
  readonly mode: (typeof LIMITING_MODES)[number];
  readonly split: LimitingSplit;
  /** Worst zones that limit nothing. */
  readonly zonesLeftOut: number;
  /** Least part of a group's cost at which a backend limits it. */
  readonly contributionRatio: number;
  /** Log time for which a backend's newest record holds. */
  readonly healthValidMs: number;
  /** Time constant with which the reporting node smooths a level; 0 = at once. */
  readonly levelSmoothingMs: number;
  readonly maxBackends: number;
}

export const LIMITING_MODES = ['enforce', 'report-only'] as const;

/** Times in milliseconds, of the local monotonic clock or log time. */
export interface CoordinatorSettings {
  readonly cluster: string;
  readonly nodeId: NodeId;
  /** Version of the program, for the NODE record. */
  readonly version: string;
  /** Random 16-bit number that decides between two processes of one incarnation. */
  readonly nonce: number;
  /** Secret random 32-bit number (keyed-hash.ts). Absent = nobody chooses ids, as in simulations. */
  readonly hashSeed?: number;
  readonly partitions: number;
  /** Interval of NODE records on the membership partition (0). Log time advances by at most twice this per record. */
  readonly heartbeatMs: number;
  /** Interval of NODE records on every other partition. */
  readonly partitionHeartbeatMs: number;
  /** Log time of silence after which a node is gone. */
  readonly stalenessMs: number;
  /** Shortest time between two reports of the same bundle. */
  readonly reportGapMs: number;
  /** Most reports per second of this node (report/report-budget.ts). */
  readonly maxReportsPerSecond: number;
  /** Time after which unchanged groups are reported again (anti-entropy). */
  readonly forcedReportMs: number;
  /** Relative change that counts as significant, 0 … 1. */
  readonly significantChangeRatio: number;
  /** Standard deviations that a change must exceed (sample/significant-change.ts). */
  readonly noiseFactor: number;
  /** Length of a round: the runtime gives `round-elapsed` this often. */
  readonly sampleIntervalMs: number;
  readonly fastSpanMs: number;
  readonly slowSpanMs: number;
  /** Time without own echo after which a node is isolated. */
  readonly isolationAfterMs: number;
  /** Time after its confirmation at which a share is void. */
  readonly shareValidMs: number;
  /** Log time after which tombstones free the keys of a gone node. */
  readonly forgetAfterMs: number;
  /** Most node ids in the usage map; absent = no bound. Equal at all nodes. */
  readonly maxNodes?: number;
  /** Most rows of the usage map (usage-map/row-bounds.ts); absent = no bound. Equal at all nodes. */
  readonly maxRows?: number;
  /** Most groups that one node has in use; absent = no bound. Equal at all nodes. */
  readonly maxGroupsPerNode?: number;
  /** Groups that share one record of a node, 1 … 64. */
  readonly groupsPerRecord: number;
  readonly limiting: LimitingSettings;
  readonly costs: CostMeterSettings;
  readonly groups: readonly GroupSettings[];
}

export const RAMP_MODES = ['relaxed', 'scheduled', 'only-if-used', 'go-back-n'] as const;
export type RampModeName = (typeof RAMP_MODES)[number];

/** Ceiling that rises with time or use (Numaflow "ramp up"). */
export interface RampSettings {
  readonly mode: RampModeName;
  /** Messages/s of the whole cluster at the start. */
  readonly fromPerSecond: number;
  /** Messages/s of the whole cluster at the top; null = the message quota. */
  readonly toPerSecond: number | null;
  /** Log time of the rise from `fromPerSecond` to `toPerSecond`. */
  readonly overMs: number;
  /** Least used part of the ceiling in a used second (only-if-used, go-back-n). */
  readonly thresholdRatio: number;
  /** Log time of a pause after which the ceiling falls (go-back-n). */
  readonly coolDownMs: number;
  /** Part of the slope that a paused second takes off the ceiling. */
  readonly pausePenaltyRatio: number;
  /** Log time without use after which the ramp begins anew. */
  readonly timeToLiveMs: number;
}

export interface CostMeterSettings {
  /** Time constant of average costs; rates follow in half of it. FoundationDB: 10 s; 60 s was too slow (PR #10361). */
  readonly smoothingMs: number;
  /** Time after which a lane without costs is forgotten (FoundationDB: 240 s). */
  readonly forgetAfterMs: number;
  /** Most lanes whose costs are kept; costs of further lanes are refused. */
  readonly maxLanes: number;
  /** Units below which costs are sampled by size (core/target/cost-sampler.ts); 0 = none. */
  readonly sampleUnits: number;
  /** Draws uniformly from [0, 1). Absent = always the middle, which is bounded but biased. */
  readonly random?: () => number;
}

/** Rules that divide a saturated backend's work among its groups. */
export const LIMITING_SPLITS = ['by-usage', 'by-quota'] as const;
export type LimitingSplit = (typeof LIMITING_SPLITS)[number];

/** Returns the longest interval between NODE records on a partition. */
export function heartbeatOf({ heartbeatMs, partitionHeartbeatMs }: Heartbeats, partition: number): number {
  return partition === MEMBERSHIP_PARTITION ? heartbeatMs : Math.max(heartbeatMs, partitionHeartbeatMs);
}

type Heartbeats = Pick<CoordinatorSettings, 'heartbeatMs' | 'partitionHeartbeatMs'>;

/** Returns the length of the group's windows; 0 = a token bucket. */
export function windowMsOf({ limiter, windowMs }: Pick<GroupSettings, 'limiter' | 'windowMs'>): number {
  return limiter === 'window' ? windowMs : 0;
}
