import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import type { QuotaName } from '../../core/beside/kafka-quotas/entity.js';

/** Bytes/s of the whole cluster; Infinity = no quota. */
export interface GroupBytes {
  readonly publish: number;
  readonly dispatch: number;
}

/** Returns a group's quota of bytes; none in shadow mode, as Kafka reports no refusals that might have been. */
export function bytesOf({ quota, mode }: Pick<GroupConfig, 'quota' | 'mode'>): GroupBytes {
  if (mode === 'shadow') return { publish: Infinity, dispatch: Infinity };
  return { publish: quota.publish[BYTES], dispatch: quota.dispatch[BYTES] };
}

/** Names the quotas as Kafka does; none without a group. */
export function quotasOf(group: GroupBytes | null): readonly (readonly [QuotaName, number])[] {
  if (group === null) return [];
  return [
    ['producer_byte_rate', group.publish],
    ['consumer_byte_rate', group.dispatch],
  ];
}

const BYTES = 1;
