import type { Append } from '../../src/core/protocol/events-and-effects.js';

/** What a node of a build that knows no charges would have appended instead. */
export function withoutCharges(appends: readonly Append[]): Append[] {
  return appends.map((append) => {
    const { record } = append;
    if (record?.kind === 'node') {
      const { tellsCharges: _, ...rest } = record;
      return { ...append, record: rest };
    }
    if (record?.kind !== 'report') return append;
    const rows = record.rows.map(({ charge: _, ...row }) => row);
    return { ...append, record: { ...record, rows } };
  });
}
