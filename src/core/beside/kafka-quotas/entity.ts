/**
 * Whom a quota of Kafka is for: a user, a client id, or both. Null = that part is not said; `DEFAULT_NAME` = everybody
 * who has no quota under a name.
 */
export interface Entity {
  readonly user: string | null;
  readonly clientId: string | null;
}

/** Kafka's own tools write it so, too. No client can have this name in a configuration. */
export const DEFAULT_NAME = '<default>';

/** Nobody's user and client id, by whose quotas brokers begin to tell of everybody. */
export const MARKER_NAME = 'quotamesh-marker';

/** The quotas that are kept for a whole cluster, bytes per second at each broker. */
export const QUOTA_NAMES = ['producer_byte_rate', 'consumer_byte_rate'] as const;

export type QuotaName = (typeof QUOTA_NAMES)[number];

/** The same entity has the same key everywhere; a part of the keys of records. */
export function entityKeyOf({ user, clientId }: Entity): string {
  const parts = [
    ['user', user],
    ['client-id', clientId],
  ] as const;
  return parts.flatMap(([type, name]) => (name === null ? [] : `${type}=${encodeURIComponent(name)}`)).join('&');
}

/** As log lines and pages show it: `user alice, client-id app`. */
export function entityText({ user, clientId }: Entity): string {
  const parts = [...(user === null ? [] : [`user ${user}`]), ...(clientId === null ? [] : [`client-id ${clientId}`])];
  return parts.join(', ');
}

/** An entity and one of its quotas: what is written and judged by itself. */
export function limitKeyOf(entity: Entity, name: QuotaName): string {
  return `${entityKeyOf(entity)}/${name}`;
}

export function isDefault({ user, clientId }: Entity): boolean {
  return user === DEFAULT_NAME || clientId === DEFAULT_NAME;
}

/** Whether what brokers export under `seen` is held by the quota of `entity`, where none that is nearer has it. */
export function covers(entity: Entity, seen: Entity): boolean {
  return coversPart(entity.user, seen.user) && coversPart(entity.clientId, seen.clientId);
}

function coversPart(wanted: string | null, seen: string | null): boolean {
  return wanted === DEFAULT_NAME ? seen !== null : wanted === seen;
}
