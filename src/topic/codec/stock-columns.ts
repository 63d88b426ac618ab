import { NO_STOCK, type ReportRow } from '../../core/base/protocol/record.js';
import type { quotamesh } from './generated/report.js';
import { isCharge, isColumn, isWireRate } from './wire-parts.js';

/** Encodes the columns of stocks, absent where no row has any. */
export function encodeLevels(rows: readonly ReportRow[]): quotamesh.v1.IReport {
  const column = (key: 'stock' | 'unread', dimension: 0 | 1, none: number) => {
    const values = rows.map((row) => row[key]?.[dimension] ?? none);
    return values.every((value) => Object.is(value, none)) ? [] : values;
  };
  return {
    stockMessages: column('stock', 0, NO_STOCK),
    stockBytes: column('stock', 1, NO_STOCK),
    unreadMessages: column('unread', 0, 0),
    unreadBytes: column('unread', 1, 0),
  };
}

export type Stock = Required<Pick<ReportRow, 'stock' | 'unread'>>;

/** Decodes an element per row, undefined without a stock; null = absurd columns. */
export function decodeLevels(report: quotamesh.v1.Report, count: number): readonly (Stock | undefined)[] | null {
  const { stockMessages, stockBytes, unreadMessages, unreadBytes } = report;
  const stocks = [stockMessages, stockBytes];
  const unread = [unreadMessages, unreadBytes];
  if (!stocks.every((column) => isColumn(column, count) && column.every(isStock))) return null;
  if (!unread.every((column) => isColumn(column, count) && column.every(isWireRate))) return null;
  if (stocks.every(({ length }) => length === 0)) return WITHOUT_STOCKS;
  return Array.from({ length: count }, (_, at) => {
    const stock = [stockMessages[at] ?? NO_STOCK, stockBytes[at] ?? NO_STOCK] as const;
    return stock.every(Number.isNaN)
      ? undefined
      : { stock, unread: [unreadMessages[at] ?? 0, unreadBytes[at] ?? 0] as const };
  });
}

function isStock(stock: number): boolean {
  return Number.isNaN(stock) || isCharge(stock);
}

const WITHOUT_STOCKS: readonly Stock[] = [];
