import type { PerDimension } from './decision.js';
import type { GroupStatus, QuotaAsWritten, RateStatus } from './node-status.js';

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
  readonly leftUnheard: Readonly<Record<'publish' | 'dispatch', PerDimension>> | null;
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
