import { limitKeyOf } from './entity.js';
import type { Alteration, DescribedQuota } from './keeper-events.js';
import { isOurs, type LimitRecord } from './keeper-record.js';

export interface Release {
  readonly record: LimitRecord;
  /** Value in Kafka now; null = none. */
  readonly found: number | null;
  /** Alteration; null = Kafka has a foreign value, or none. */
  readonly alteration: Alteration | null;
}

export function releasePlan(records: readonly LimitRecord[], described: readonly DescribedQuota[]): Release[] {
  const values = new Map(described.map(({ entity, name, value }) => [limitKeyOf(entity, name), value]));
  return records.map((record) => {
    const { entity, name, original } = record;
    const found = values.get(limitKeyOf(entity, name)) ?? null;
    const isPutBack = found !== null && isOurs(record, found);
    return { record, found, alteration: isPutBack ? { entity, name, value: original } : null };
  });
}
