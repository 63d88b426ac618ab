import type { PerDimension } from './decision.js';
import type { GroupStatus, QuotaAsWritten, RateStatus } from './node-status.js';

/** What one node knows of a key, whether it uses it or not. */
export interface KeyStatus {
  readonly key: string;
  /** The pattern of its template. */
  readonly template: string;
  /** The whole cluster's, as it is written. */
  readonly quota: Readonly<Record<'publish' | 'dispatch', QuotaAsWritten>>;
  /** False: nobody uses it at this node, or not lately. */
  readonly used: boolean;
  /** True: nobody in the cluster reports it, and this node may spend it unheard. */
  readonly silent: boolean;
  /** Whole units that this node may still spend unheard; null in it where nothing limits. Null unless silent. */
  readonly leftUnheard: Readonly<Record<'publish' | 'dispatch', PerDimension>> | null;
  /** Whole units that the cluster's bucket holds, as far as this node knows; null as in `leftUnheard`. */
  readonly remaining: Readonly<Record<'publish' | 'dispatch', PerDimension>> | null;
  /** As for any group, with the cluster's bucket where it is loud at this node; null where nobody tells its name. */
  readonly group: GroupStatus | null;
  /**
   * What each node published of it last, the largest demand first; of a silent key, nodes where it is one of the
   * busiest.
   */
  readonly told: Readonly<Record<'publish' | 'dispatch', readonly KeyTold[]>>;
}

export interface KeyTold {
  readonly nodeId: string;
  readonly self: boolean;
  readonly usage: RateStatus;
  readonly demand: RateStatus;
  /** Units that it reported beyond what was expected of it, since its first report. */
  readonly charged: PerDimension;
  /** null = the node spends it unheard, which its heartbeats alone say. */
  readonly reportAgeMs: number | null;
}
