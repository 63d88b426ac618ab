import type { KafkaQuotaEntity } from '../../config/schema/kafka-quota-entities.js';
import { MARKER_NAME, QUOTA_NAMES, type QuotaName } from '../../core/beside/kafka-quotas/entity.js';
import type { Marker } from '../../core/beside/kafka-quotas/keeper-events.js';
import { quotasOf } from './group-bytes.js';
import type { SpecsInput } from './limit-specs.js';

/**
 * Returns one quota that nobody has for each name that the rules keep. *Why:* brokers report users while all quotas of
 * a name are of users, pairs while all are of pairs; else client ids, and whoever has its own quota.
 */
export function markersOf(rules: readonly KafkaQuotaEntity[], quotaOf: SpecsInput['quotaOf']): Marker[] {
  return QUOTA_NAMES.flatMap((name) => {
    const keeping = rules.filter(({ group }) => mayKeep(group, name, quotaOf));
    if (keeping.length === 0) return [];
    const hasClients = keeping.some(({ user }) => user === null);
    const hasUsers = keeping.some(({ clientId }) => clientId === null);
    const entity = {
      user: hasClients ? null : MARKER_NAME,
      clientId: hasUsers && !hasClients ? null : MARKER_NAME,
    };
    return [{ entity, name }];
  });
}

/** Tests if a group may have a quota of that name. A name made of captures follows its template, or may have any. */
function mayKeep(group: string, name: QuotaName, quotaOf: SpecsInput['quotaOf']): boolean {
  const sample = group.replaceAll(/\{\w+\}/g, 'x');
  const quotas = quotasOf(quotaOf(sample));
  if (quotas.length === 0) return sample !== group;
  return quotas.some(([each, bytes]) => each === name && bytes < Infinity);
}
