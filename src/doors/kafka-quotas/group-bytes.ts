import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import type { QuotaName } from '../../core/beside/kafka-quotas/entity.js';

/** Bytes per second of the whole cluster; Infinity = no quota. */
export interface GroupBytes {
  readonly publish: number;
  readonly dispatch: number;
}

/** A group with `mode: shadow` refuses nothing, and Kafka does not tell what it would have refused. */
export function bytesOf({ quota, mode }: Pick<GroupConfig, 'quota' | 'mode'>): GroupBytes {
  if (mode === 'shadow') return { publish: Infinity, dispatch: Infinity };
  return { publish: quota.publish[BYTES], dispatch: quota.dispatch[BYTES] };
}

/** What Kafka calls them. None of a group that there is not. */
export function quotasOf(group: GroupBytes | null): readonly (readonly [QuotaName, number])[] {
  if (group === null) return [];
  return [
    ['producer_byte_rate', group.publish],
    ['consumer_byte_rate', group.dispatch],
  ];
}

const BYTES = 1;
