import { printable } from '../../base/errors/printable.js';

/** Aligns columns, two spaces apart, `numeric` ones to the right; shows first lines only. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly string[] = [],
): readonly string[] {
  const lines = [head, ...rows.map((row) => row.map((cell) => printable(firstLine(cell))))];
  const widths = head.map((_, at) => Math.max(...lines.map((row) => row[at]?.length ?? 0)));
  return lines.map((row) => {
    const cells = row.map((cell, at) => {
      return numeric.includes(head[at] ?? '') ? cell.padStart(widths[at]) : cell.padEnd(widths[at]);
    });
    return cells.join('  ').trimEnd();
  });
}

function firstLine(cell: string): string {
  const end = cell.indexOf('\n');
  return end === -1 ? cell : `${cell.slice(0, end)} …`;
}
