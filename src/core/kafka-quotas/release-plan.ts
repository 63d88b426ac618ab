import { limitKeyOf } from './entity.js';
import type { Alteration, DescribedQuota } from './keeper-events.js';
import type { LimitRecord } from './keeper-record.js';

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
    const { entity, name, value, earlier, original } = record;
    const found = values.get(limitKeyOf(entity, name)) ?? null;
    const isOurs = found !== null && (found === value || earlier.includes(found));
    return { record, found, alteration: isOurs ? { entity, name, value: original } : null };
  });
}
