import type { DescribedEntity } from './client-quotas-1.js';
import { userOf } from './needed-acls.js';

/** Client of a quota; user null = no name that a client could know. */
export interface QuotaClient {
  readonly clientId: string;
  readonly user: string | null;
}

export interface HeldQuota {
  /** As in `producer_byte_rate`. */
  readonly key: string;
  readonly value: number;
  /** True = the entity names neither user nor client id. */
  readonly isDefault: boolean;
}

export const QUOTA_KEYS = ['producer_byte_rate', 'consumer_byte_rate', 'request_percentage'] as const;

/** Names a connection for Kafka's quotas. */
export function quotaClientOf(clientId: string, ...proof: Parameters<typeof userOf>): QuotaClient {
  return { clientId, user: userOf(...proof) };
}

/** Finds the quotas of a client: per kind the entity that Kafka takes first. */
export function heldQuotas(
  { clientId, user }: QuotaClient,
  entities: readonly DescribedEntity[],
): readonly HeldQuota[] {
  const ofUser = [...(user === null ? [] : [user]), null, undefined];
  const order = ofUser.flatMap((name) => [clientId, null, undefined].map((id) => ({ user: name, 'client-id': id })));
  return QUOTA_KEYS.flatMap((key) => {
    for (const wanted of order) {
      const named = Object.entries(wanted).filter(([, name]) => name !== undefined);
      const found = entities.find(({ entity, values }) => {
        const isIt = (type: string, name: unknown) => entity.some((part) => part.type === type && part.name === name);
        const holds = values.some((each) => each.key === key);
        return holds && named.length === entity.length && named.every(([type, name]) => isIt(type, name));
      });
      const value = found?.values.find((each) => each.key === key)?.value;
      if (value === undefined) continue;
      return [{ key, value, isDefault: named.every(([, name]) => name === null) }];
    }
    return [];
  });
}

export function clientText({ clientId, user }: QuotaClient): string {
  return user === null || user === 'ANONYMOUS' ? `client id ${clientId}` : `user ${user}, client id ${clientId}`;
}

/** Writes the command for a client's quota: it outranks all defaults. */
export function ownQuotaCommand({ clientId, user }: QuotaClient, bootstrapServer: string): string {
  const ofUser = user === null ? '' : ` --entity-type users --entity-name ${user}`;
  const ofClient = user === null || user === 'ANONYMOUS' ? ` --entity-type clients --entity-name ${clientId}` : '';
  const values = `producer_byte_rate=${OWN_BYTES_PER_SECOND},consumer_byte_rate=${OWN_BYTES_PER_SECOND}`;
  return `kafka-configs.sh --bootstrap-server ${bootstrapServer} --alter${ofUser}${ofClient} --add-config ${values}`;
}

/** Bytes/s, far more than nodes write and read; more guards a broker less. */
const OWN_BYTES_PER_SECOND = 100 * 1024 * 1024;
