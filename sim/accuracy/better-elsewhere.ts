import type { AccuracyRow } from './accuracy-run.js';

/** A metric in which a system that keeps the quota does better than ours. */
export interface Loss {
  readonly scenario: string;
  readonly metric: string;
  readonly ours: number | null;
  readonly theirs: number;
  readonly system: string;
}

/** What counts as better: larger or smaller, and by how much at least. */
const RULES: readonly { readonly metric: string; readonly sense: 1 | -1; readonly by: number }[] = [
  { metric: 'worstSecond', sense: -1, by: 0.02 },
  { metric: 'overAdmission', sense: -1, by: 0.005 },
  { metric: 'utilisation', sense: 1, by: 0.005 },
  { metric: 'refusedBelowFair', sense: -1, by: 0.002 },
  { metric: 'convergenceMs', sense: -1, by: 100 },
  { metric: 'jain', sense: 1, by: 0.005 },
];

/**
 * A system that admits more than this in its worst second does not keep the quota; its other figures are no victory.
 */
const KEEPS_QUOTA = 1.1;
/** A system that uses less than this refuses work that the quota could carry, which is no victory either. */
const USES_QUOTA = 0.97;

/**
 * For every scenario and metric, the best of the other systems, where it beats ours: openly, and against ourselves. A
 * system that breaks the quota or leaves it unused does not compete in the other metrics, unless ours does no better.
 */
export function betterElsewhere(rows: readonly AccuracyRow[], ours: string, others: readonly string[]): Loss[] {
  const scenarios = [...new Set(rows.map(({ scenario }) => scenario))];
  return scenarios.flatMap((scenario) => {
    const own = rows.find((row) => row.scenario === scenario && row.system === ours);
    const rivals = rows.filter((row) => row.scenario === scenario && others.includes(row.system));
    return own === undefined ? [] : RULES.flatMap((rule) => lossIn(own, rivals, rule));
  });
}

function lossIn(own: AccuracyRow, rivals: readonly AccuracyRow[], rule: (typeof RULES)[number]): Loss[] {
  const { metric, sense, by } = rule;
  const ours = figureOf(own, metric);
  let best: Loss | null = null;
  for (const rival of rivals) {
    const theirs = figureOf(rival, metric);
    if (theirs === null || !competes(rival, own)) continue;
    const isBetter = ours === null ? metric === 'convergenceMs' : sense * (theirs - ours) > by;
    if (!isBetter || (best !== null && sense * (theirs - best.theirs) <= 0)) continue;
    best = { scenario: own.scenario, metric, ours, theirs, system: rival.system };
  }
  return best === null ? [] : [best];
}

function competes(rival: AccuracyRow, own: AccuracyRow): boolean {
  const keeps = (figureOf(rival, 'worstSecond') ?? 0) <= Math.max(KEEPS_QUOTA, figureOf(own, 'worstSecond') ?? 0);
  return keeps && (figureOf(rival, 'utilisation') ?? 0) >= Math.min(USES_QUOTA, figureOf(own, 'utilisation') ?? 0);
}

function figureOf(row: AccuracyRow, metric: string): number | null {
  return row.metrics[metric] ?? null;
}
