import type { AccuracyRow, Figures } from './accuracy-run.js';

export interface Loss {
  readonly scenario: string;
  readonly start: Start;
  readonly metric: string;
  readonly ours: number | null;
  readonly theirs: number;
  readonly system: string;
}

/** Start: with the scenario, or running before. */
export type Start = 'cold' | 'warm';

export const STARTS: readonly Start[] = ['cold', 'warm'];

/** Better figures per metric: direction and least difference. */
const RULES: readonly { readonly metric: string; readonly sense: 1 | -1; readonly by: number }[] = [
  { metric: 'worstSecond', sense: -1, by: 0.02 },
  { metric: 'overAdmission', sense: -1, by: 0.005 },
  { metric: 'secondsOver', sense: -1, by: 1 },
  { metric: 'overshootTokens', sense: -1, by: 20 },
  { metric: 'utilisation', sense: 1, by: 0.005 },
  { metric: 'steadyError', sense: -1, by: 0.005 },
  { metric: 'refusedBelowFair', sense: -1, by: 0.002 },
  { metric: 'convergenceMs', sense: -1, by: 100 },
  { metric: 'jain', sense: 1, by: 0.005 },
  { metric: 'oscillation', sense: -1, by: 0.01 },
  { metric: 'records', sense: -1, by: 50 },
  { metric: 'bytes', sense: -1, by: 5000 },
];

/** Metrics of sending, which say nothing of admission. */
export const COST_METRICS: readonly string[] = ['records', 'bytes'];

/** Worst second above which a system breaks the quota: it competes in nothing. */
const KEEPS_QUOTA = 1.1;
/** Use below which a system refuses affordable work, and competes in nothing. */
const USES_QUOTA = 0.97;

/**
 * Finds the best system that beats ours: per scenario, start and metric. Those that break the quota or leave it unused
 * compete only if ours does no better.
 */
export function betterElsewhere(rows: readonly AccuracyRow[], ours: string, others: readonly string[]): Loss[] {
  const scenarios = [...new Set(rows.map(({ scenario }) => scenario))];
  return scenarios.flatMap((scenario) =>
    RULES.flatMap((rule) =>
      STARTS.flatMap((start) => {
        const figures = figuresOf(rows, start).filter((row) => row.scenario === scenario);
        const own = figures.find(({ system }) => system === ours);
        const rivals = figures.filter(({ system }) => others.includes(system));
        return own === undefined ? [] : lossIn(own, rivals, rule, start);
      }),
    ),
  );
}

/** Lists competing systems of a scenario. */
export function competing(
  rows: readonly AccuracyRow[],
  ours: string,
  others: readonly string[],
  { scenario, start }: Pick<Loss, 'scenario' | 'start'>,
): readonly string[] {
  const figures = figuresOf(rows, start).filter((row) => row.scenario === scenario);
  const own = figures.find(({ system }) => system === ours);
  if (own === undefined) return [];
  return figures.filter((row) => others.includes(row.system) && competes(row, own)).map(({ system }) => system);
}

export function figuresOf(rows: readonly AccuracyRow[], start: Start): readonly Figures[] {
  return start === 'cold' ? rows : rows.map(({ scenario, system, warm }) => ({ scenario, system, metrics: warm }));
}

function lossIn(own: Figures, rivals: readonly Figures[], rule: (typeof RULES)[number], start: Start): Loss[] {
  const { metric, sense, by } = rule;
  const ours = figureOf(own, metric);
  let best: Loss | null = null;
  for (const rival of rivals) {
    const theirs = figureOf(rival, metric);
    if (theirs === null || !competes(rival, own)) continue;
    // An error counts on either side of the quota.
    const size = Math.abs(theirs);
    const isBetter = ours === null ? metric === 'convergenceMs' : sense * (size - Math.abs(ours)) > by;
    if (!isBetter || (best !== null && sense * (size - Math.abs(best.theirs)) <= 0)) continue;
    best = { scenario: own.scenario, start, metric, ours, theirs, system: rival.system };
  }
  return best === null ? [] : [best];
}

function competes(rival: Figures, own: Figures): boolean {
  const keeps = (figureOf(rival, 'worstSecond') ?? 0) <= Math.max(KEEPS_QUOTA, figureOf(own, 'worstSecond') ?? 0);
  return keeps && (figureOf(rival, 'utilisation') ?? 0) >= Math.min(USES_QUOTA, figureOf(own, 'utilisation') ?? 0);
}

function figureOf(row: Figures, metric: string): number | null {
  return row.metrics[metric] ?? null;
}
