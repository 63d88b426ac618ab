/** Columns of text, two spaces apart; those named in `numeric` are aligned to the right. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly string[] = [],
): readonly string[] {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  return [head, ...rows].map((row) => {
    const cells = row.map((cell, at) => {
      return numeric.includes(head[at] ?? '') ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!);
    });
    return cells.join('  ').trimEnd();
  });
}
