import type { Direction } from '../../core/base/vocabulary.js';
import type { RefusalCount } from './group-explanation.js';
import type { QuotaAsWritten, RateStatus } from './node-status.js';

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
