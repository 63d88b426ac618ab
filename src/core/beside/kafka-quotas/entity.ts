/** User, client id or both of a Kafka quota. Null = not named; `DEFAULT_NAME` = all without a quota of their own. */
export interface Entity {
  readonly user: string | null;
  readonly clientId: string | null;
}

/** Name of the default in Kafka's tools; no configured client can have it. */
export const DEFAULT_NAME = '<default>';

/** Name of no client; its quotas make brokers report all clients. */
export const MARKER_NAME = 'quotamesh-marker';

/** Quotas kept for a whole cluster, bytes/s per broker. */
export const QUOTA_NAMES = ['producer_byte_rate', 'consumer_byte_rate'] as const;

export type QuotaName = (typeof QUOTA_NAMES)[number];

/** Returns an entity's key, the same at every keeper; part of records' keys. */
export function entityKeyOf({ user, clientId }: Entity): string {
  const parts = [
    ['user', user],
    ['client-id', clientId],
  ] as const;
  return parts.flatMap(([type, name]) => (name === null ? [] : `${type}=${encodeURIComponent(name)}`)).join('&');
}

/** Writes `user alice, client-id app`, for logs and pages. */
export function entityText({ user, clientId }: Entity): string {
  const parts = [...(user === null ? [] : [`user ${user}`]), ...(clientId === null ? [] : [`client-id ${clientId}`])];
  return parts.join(', ');
}

/** Returns the key of an entity's quota, judged and written by itself. */
export function limitKeyOf(entity: Entity, name: QuotaName): string {
  return `${entityKeyOf(entity)}/${name}`;
}

export function isDefault({ user, clientId }: Entity): boolean {
  return user === DEFAULT_NAME || clientId === DEFAULT_NAME;
}

/** Tests if `entity`'s quota holds for `seen`, without a nearer one. */
export function covers(entity: Entity, seen: Entity): boolean {
  return coversPart(entity.user, seen.user) && coversPart(entity.clientId, seen.clientId);
}

function coversPart(wanted: string | null, seen: string | null): boolean {
  return wanted === DEFAULT_NAME ? seen !== null : wanted === seen;
}
