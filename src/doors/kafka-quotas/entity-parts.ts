import type { GroupConfig } from '../../config/resolved/resolved-config.js';
import { BYTES } from '../../core/base/vocabulary.js';
import {
  DEFAULT_NAME,
  type Entity,
  entityKeyOf,
  QUOTA_NAMES,
  type QuotaName,
} from '../../core/beside/kafka-quotas/entity.js';
import type { Alteration, DescribedQuota } from '../../core/beside/kafka-quotas/keeper-events.js';
import type { DescribedEntity, EntityChange, EntityPart } from '../../topic/kafka/client-quotas-1.js';

const USER = 'user';
const CLIENT_ID = 'client-id';

/** Turns alterations into one change per entity. */
export function changesOf(alterations: readonly Alteration[]): EntityChange[] {
  const changes = new Map<string, { entity: EntityPart[]; changes: { key: string; value: number | null }[] }>();
  for (const { entity, name, value } of alterations) {
    const key = entityKeyOf(entity);
    const change = changes.get(key) ?? { entity: partsOf(entity), changes: [] };
    change.changes.push({ key: name, value });
    changes.set(key, change);
  }
  return [...changes.values()];
}

/** Returns the quotas of users and clients; those of IP addresses are left out. */
export function describedQuotas(described: readonly DescribedEntity[]): DescribedQuota[] {
  return described.flatMap(({ entity: parts, values }) => {
    const entity = entityOfParts(parts);
    if (entity === null) return [];
    return QUOTA_NAMES.flatMap((name) => {
      const value = values.find(({ key }) => key === name)?.value;
      return value === undefined ? [] : [{ entity, name, value }];
    });
  });
}

/** Returns the entity of its parts; null = another kind. */
export function entityOfParts(parts: readonly EntityPart[]): Entity | null {
  if (parts.length === 0 || parts.some(({ type }) => type !== USER && type !== CLIENT_ID)) return null;
  const nameOf = (wanted: string) => {
    const part = parts.find(({ type }) => type === wanted);
    return part === undefined ? null : (part.name ?? DEFAULT_NAME);
  };
  return { user: nameOf(USER), clientId: nameOf(CLIENT_ID) };
}

function partsOf({ user, clientId }: Entity): EntityPart[] {
  const partOf = (type: string, name: string | null) => {
    return name === null ? [] : [{ type, name: name === DEFAULT_NAME ? null : name }];
  };
  return [...partOf(USER, user), ...partOf(CLIENT_ID, clientId)];
}

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
