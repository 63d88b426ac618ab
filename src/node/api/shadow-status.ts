import type { Direction } from '../../core/base/vocabulary.js';
import type { RefusalCount } from './group-explanation.js';
import type { QuotaAsWritten, RateStatus } from './node-status.js';

/** What would have been, had the shadow of a group been enforced (docs/guide/shadow.md). */
export interface ShadowStatus {
  /** group = nothing of the group is enforced (`mode: shadow`); planned = a plan beside what is in force (`shadow:`). */
  readonly kind: 'group' | 'planned';
  readonly strategy: string;
  readonly directions: Readonly<Record<Direction, ShadowDirectionStatus>>;
}

export interface ShadowDirectionStatus {
  readonly quota: RateStatus;
  readonly quotaAsWritten: QuotaAsWritten;
  /** Σ over all nodes of what their shadows admitted and were asked for, as they reported last. */
  readonly usage: RateStatus;
  readonly demand: RateStatus;
  /** What this node's shadow holds. */
  readonly share: RateStatus;
  /** What this node's shadow has said since the start of the process. */
  readonly admittedMessages: number;
  readonly admittedBytes: number;
  readonly refusedMessages: number;
  readonly refusedBytes: number;
  /** Granted in force, and the shadow would have refused it; of a part, what it would have left out. */
  readonly wouldRefuse: ShadowDifference;
  /** Refused in force at once, and the shadow would have granted it, or a part of it. */
  readonly wouldGrant: ShadowDifference;
  /** Why the shadow would have refused, by level, dimension and reason; the newest first. */
  readonly refusedBecause: readonly RefusalCount[];
}

export interface ShadowDifference {
  readonly requests: number;
  readonly messages: number;
  readonly bytes: number;
}
