import type { Append } from '../../src/core/base/protocol/events-and-effects.js';

/** Exaggerates a lying node's usage and demand by a factor, not its share. */
export function exaggerated(appends: readonly Append[], factor: number): readonly Append[] {
  return appends.map((append) => {
    const { record } = append;
    if (record?.kind !== 'report') return append;
    const rows = record.rows.map((row) => ({
      ...row,
      usageMessages: row.usageMessages * factor,
      usageBytes: row.usageBytes * factor,
      demandMessages: row.demandMessages * factor,
      demandBytes: row.demandBytes * factor,
    }));
    return { ...append, record: { ...record, rows } };
  });
}
