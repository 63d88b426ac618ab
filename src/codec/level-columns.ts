import { NO_LEVEL, type ReportRow } from '../core/protocol/record.js';
import type { quotamesh } from './generated/report.js';
import { isCharge, isColumn, isRate } from './wire-parts.js';

/** The columns of levels, each of them absent where no row has anything in it. */
export function encodeLevels(rows: readonly ReportRow[]): quotamesh.v1.IReport {
  const column = (key: 'level' | 'unread', dimension: 0 | 1, none: number) => {
    const values = rows.map((row) => row[key]?.[dimension] ?? none);
    return values.every((value) => Object.is(value, none)) ? [] : values;
  };
  return {
    levelMessages: column('level', 0, NO_LEVEL),
    levelBytes: column('level', 1, NO_LEVEL),
    unreadMessages: column('unread', 0, 0),
    unreadBytes: column('unread', 1, 0),
  };
}

export type WithLevel = Pick<ReportRow, 'level' | 'unread'>;

/** One element per row, none where no row has a level; null where the columns are absurd. */
export function decodeLevels(report: quotamesh.v1.Report, count: number): readonly WithLevel[] | null {
  const { levelMessages, levelBytes, unreadMessages, unreadBytes } = report;
  const levels = [levelMessages, levelBytes];
  const unread = [unreadMessages, unreadBytes];
  if (!levels.every((column) => isColumn(column, count) && column.every(isLevel))) return null;
  if (!unread.every((column) => isColumn(column, count) && column.every(isRate))) return null;
  if (levels.every(({ length }) => length === 0)) return WITHOUT_LEVELS;
  return Array.from({ length: count }, (_, at): WithLevel => {
    const level = [levelMessages[at] ?? NO_LEVEL, levelBytes[at] ?? NO_LEVEL] as const;
    if (level.every(Number.isNaN)) return {};
    return { level, unread: [unreadMessages[at] ?? 0, unreadBytes[at] ?? 0] };
  });
}

function isLevel(level: number): boolean {
  return Number.isNaN(level) || isCharge(level);
}

const WITHOUT_LEVELS: readonly WithLevel[] = [];
