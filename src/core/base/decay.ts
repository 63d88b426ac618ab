/**
 * Computes e^(−x) for x ≥ 0 with + − × ÷ only. Machines agree bit for bit, which Math.exp does not promise. Whole
 * eighths come from a table, the rest (< 1/8) from the first nine terms of the series: error < 1e-13. From 40 on it is
 * 0 (e^−40 = 4e-18).
 */
export function decay(x: number): number {
  if (!(x < TABLE_END)) return 0;
  const eighths = Math.floor(x * 8);
  const rest = x - eighths / 8;
  let term = 1;
  let series = 1;
  for (let power = 1; power <= 8; power++) {
    term *= -rest / power;
    series += term;
  }
  return TABLE[eighths] * series;
}

const TABLE_END = 40;
/** e^(−1/8). */
const EIGHTH = 0.8824969025845955;
const TABLE = new Float64Array(TABLE_END * 8).fill(1);
for (let at = 1; at < TABLE.length; at++) TABLE[at] = TABLE[at - 1] * EIGHTH;
