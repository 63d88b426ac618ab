import { limitKeyOf } from './entity.js';
import type { Alteration, DescribedQuota } from './keeper-events.js';
import { isOurs, type LimitRecord } from './keeper-record.js';

export interface Release {
  readonly record: LimitRecord;
  /** What stands in Kafka now; null = nothing. */
  readonly found: number | null;
  /** What is to be done; null = nothing, because somebody else's value stands there, or none. */
  readonly alteration: Alteration | null;
}

/** What puts back what was there before quotamesh. Values that quotamesh has not written stay as they are. */
export function releasePlan(records: readonly LimitRecord[], described: readonly DescribedQuota[]): Release[] {
  const values = new Map(described.map(({ entity, name, value }) => [limitKeyOf(entity, name), value]));
  return records.map((record) => {
    const { entity, name, original } = record;
    const found = values.get(limitKeyOf(entity, name)) ?? null;
    const isPutBack = found !== null && isOurs(record, found);
    return { record, found, alteration: isPutBack ? { entity, name, value: original } : null };
  });
}
