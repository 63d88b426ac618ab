import type { PerDimension } from './decision.js';
import type { GroupStatus } from './node-status.js';

/** What one node knows of a key. */
export interface KeyStatus {
  readonly key: string;
  /** The pattern of its template. */
  readonly template: string;
  /** The whole cluster's, as it is written. */
  readonly quota: Readonly<Record<'publish' | 'dispatch', Readonly<Record<string, number>>>>;
  /** True: nobody in the cluster tells of it, and this node spends it unheard. */
  readonly silent: boolean;
  /** Whole units that this node may still spend unheard; null in it where nothing limits. Null unless silent. */
  readonly leftUnheard: Readonly<Record<'publish' | 'dispatch', PerDimension>> | null;
  /** As for any group, with the cluster's bucket; null while silent. */
  readonly group: GroupStatus | null;
}
