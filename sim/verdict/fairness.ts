/** Returns Jain's index (Σ x)² ÷ (n · Σ x²): 1 = alike, 1 ÷ n = one has all; null below two. */
export function jainIndex(parts: readonly number[]): number | null {
  if (parts.length < 2) return null;
  const sum = parts.reduce((total, part) => total + part, 0);
  const squares = parts.reduce((total, part) => total + part * part, 0);
  return squares === 0 ? null : (sum * sum) / (parts.length * squares);
}

export interface NodeColumns {
  readonly admitted: Float64Array;
  readonly fair: Float64Array;
}

export interface SampleSpan {
  readonly from: number;
  readonly until: number;
}

/** Returns the lowest index of admitted ÷ fair over spans. Fair amounts below `least` are left out. */
export function worstJain(nodes: readonly NodeColumns[], spans: readonly SampleSpan[], least: number): number | null {
  let worst: number | null = null;
  for (const span of spans) {
    const parts = nodes.flatMap(({ admitted, fair }) => {
      const due = sumOf(fair, span);
      return due >= least ? [sumOf(admitted, span) / due] : [];
    });
    const index = jainIndex(parts);
    if (index !== null && (worst === null || index < worst)) worst = index;
  }
  return worst;
}

/**
 * Returns what moves between nodes, per period and quota; 0 = none. Mean of Σ |admitted − that of the period before| ÷
 * quota.
 */
export function oscillationOf(
  nodes: readonly NodeColumns[],
  granted: Float64Array,
  spans: readonly SampleSpan[],
  period: number,
): number {
  let sum = 0;
  let count = 0;
  for (const { from, until } of spans) {
    for (let at = from + period; at + period <= until; at += period) {
      const due = sumOf(granted, { from: at, until: at + period });
      if (!Number.isFinite(due) || due === 0) continue;
      for (const { admitted } of nodes) {
        const now = sumOf(admitted, { from: at, until: at + period });
        sum += Math.abs(now - sumOf(admitted, { from: at - period, until: at })) / due;
      }
      count++;
    }
  }
  return count === 0 ? 0 : sum / count;
}

export function sumOf(column: Float64Array, { from, until }: SampleSpan): number {
  let total = 0;
  for (let at = from; at < until; at++) total += column[at];
  return total;
}
