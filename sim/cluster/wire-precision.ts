import type { LaneCosts, ReportRow, TopicRecord } from '../../src/core/base/protocol/record.js';

/** Rounds rates to float32 as the codec does, without encoding. */
export function roundToWire(record: TopicRecord | null): TopicRecord | null {
  if (record?.kind !== 'report') return record;
  return { ...record, rows: record.rows.map(roundRow) };
}

function roundRow(row: ReportRow): ReportRow {
  return {
    ...row,
    usageMessages: Math.fround(row.usageMessages),
    usageBytes: Math.fround(row.usageBytes),
    demandMessages: Math.fround(row.demandMessages),
    demandBytes: Math.fround(row.demandBytes),
    shareMessages: Math.fround(row.shareMessages),
    shareBytes: Math.fround(row.shareBytes),
    ...(row.stock === undefined ? {} : { stock: rounded(row.stock), unread: rounded(row.unread ?? [0, 0]) }),
    ...(row.costs === undefined ? {} : { costs: roundCosts(row.costs) }),
  };
}

function rounded([messages, bytes]: readonly [number, number]): readonly [number, number] {
  return [Math.fround(messages), Math.fround(bytes)];
}

function roundCosts({ transactions, backends }: LaneCosts): LaneCosts {
  return {
    transactions: Math.fround(transactions),
    backends: backends.map(({ backend, cost }) => ({ backend, cost: Math.fround(cost) })),
  };
}
