/** Copies a column into a longer one. The new places hold `filled`. */
export function grown<Column extends Float64Array | Float32Array | Int32Array | Uint32Array | Uint8Array>(
  column: Column,
  length: number,
  filled = 0,
): Column {
  const larger = new (column.constructor as new (length: number) => Column)(length);
  larger.fill(filled, column.length);
  larger.set(column);
  return larger;
}
