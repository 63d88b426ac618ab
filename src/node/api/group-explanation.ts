import type { GateName } from '../../core/base/local-gate.js';
import type { Dimension, Direction } from '../../core/base/vocabulary.js';
import type { Level } from '../../core/limiter/levels.js';
import type { Binding } from '../../core/target/target-rate.js';
import type { PerDimension } from './decision.js';
import type { DirectionStatus, QuotaAsWritten, RampStatus, RateStatus, ShadowDirectionStatus } from './node-status.js';

/** Explains a group's limits: every input of the decision, in the order of use. */
export interface GroupExplanation {
  readonly group: string;
  readonly node: string;
  readonly strategy: string;
  /** Setting for which each node has a gate on its own share; null = the cluster has a bucket. */
  readonly gate: GateName | null;
  readonly directions: Readonly<Record<Direction, DirectionExplanation>>;
}

/** Rates per second, null = unlimited; costs in cost units. */
export interface DirectionExplanation {
  readonly quota: RateStatus & {
    readonly costPerSecond: number | null;
    readonly reservedCostPerSecond: number;
  };
  readonly quotaAsWritten: QuotaAsWritten;
  /** Sums over all nodes, as last published. */
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
  /** Target in messages/s; report-only does not enforce it. */
  readonly target: number | null;
  readonly binding: Binding;
  readonly busy: boolean;
  /** Ceiling over the target while it climbs; null = none. */
  readonly ramp: RampStatus | null;
  readonly inForce: RateStatus;
  readonly shareSum: RateStatus;
  /** Null where each node has a gate, and where the direction is unused here. */
  readonly clusterBucket: DirectionStatus['clusterBucket'];
  readonly local: LocalExplanation;
  /** Answers of the group's shadow; null = it has none. */
  readonly shadow: ShadowDirectionStatus | null;
}

export interface LimitingExplanation {
  readonly mode: string;
  readonly split: string;
  readonly rate: number | null;
  /** Messages/s that backends never take away. */
  readonly minimum: number;
  /** Zone and backend that decide; null = nothing limits. */
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
  readonly limit: RateStatus;
  /** Units in the bucket now. */
  readonly tokens: PerDimension;
  /** Whole units and milliseconds, as in answers (`remaining`, `resetMs`). */
  readonly remaining: PerDimension;
  readonly resetMs: PerDimension;
  /** Units that let a larger request pass, which owes the rest; null = unlimited, or nothing passes. */
  readonly depth: PerDimension;
  /** Units/s that come back to a waiting request if nobody else takes any; null = unlimited. */
  readonly comesBack: RateStatus;
  /** Milliseconds of a window, which never grants more than it holds; 0 = a bucket. */
  readonly windowMs: number;
  readonly refusals: number;
  readonly refusedMessages: number;
  readonly refusedBytes: number;
  /** Refusals by level, dimension and reason, the newest first. */
  readonly refusedBecause: readonly RefusalCount[];
}

/**
 * Causes of a refusal. Of the group: the ceiling that its target was equal to, `bytes` of the byte quota, or `isolated`
 * where the node holds less because the topic is away. `own-limit`: a fixed limit of the node, a topic or a client.
 * `no-room`: too many topics or clients. `not-ready`: the node decides nothing.
 */
export type RefusalReason = Binding | 'bytes' | 'isolated' | 'own-limit' | 'no-room' | 'not-ready';

export interface RefusalCount {
  /** Null = the node decides nothing. */
  readonly level: Level | null;
  readonly dimension: Dimension | null;
  readonly reason: RefusalReason;
  readonly count: number;
  readonly lastAgoMs: number;
}
