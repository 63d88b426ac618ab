import type { Verdict } from '../run-result.js';
import { Html, html } from './html.js';
import type { PageRun } from './page-runs.js';

interface Column {
  readonly title: string;
  readonly means: string;
  /** What to compare, smaller = better; null = not measured. */
  readonly badness: (verdict: Verdict) => number | null;
  readonly text: (verdict: Verdict) => string;
}

/** One row per system; the best figure of a column is marked, by weight and a sign and not by colour alone. */
export function verdictTable(runs: readonly PageRun[], labels: readonly string[]): Html {
  const verdicts = runs.map(({ verdict }) => verdict);
  if (verdicts.every((verdict) => verdict === null)) return new Html('');
  const best = COLUMNS.map(({ badness }) => leastOf(verdicts.map((verdict) => verdict && badness(verdict))));
  const rows = verdicts.map((verdict, run) => {
    const cells = COLUMNS.map(({ badness, text }, at) => {
      if (verdict === null) return html`<td>–</td>`;
      const isBest = best[at] !== null && badness(verdict) === best[at];
      return isBest ? html`<td class="best">${text(verdict)}</td>` : html`<td>${text(verdict)}</td>`;
    });
    return html`<tr data-run="${run}"><th scope="row"><button type="button" class="pick" data-run="${run}"><span class="badge" aria-hidden="true"></span><span class="name">${labels[run] as string}</span></button></th>${cells}</tr>
`;
  });
  const heads = COLUMNS.map(({ title, means }) => html`<th scope="col" title="${means}">${title}</th>`);
  const meanings = COLUMNS.map(({ title, means }) => html`<dt>${title}</dt><dd>${means}</dd>`);
  return html`<section aria-labelledby="verdict-title">
<h2 id="verdict-title">Verdict</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Verdict of every system">
<table class="verdict"><thead><tr><th scope="col">System</th>${heads}</tr></thead>
<tbody>${rows}</tbody></table></div>
<details><summary>What the columns mean</summary><dl>${meanings}</dl></details>
</section>`;
}

const percent = (ratio: number, digits = 1) => `${(100 * ratio).toFixed(digits)} %`;
const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;

const COLUMNS: readonly Column[] = [
  {
    title: 'Over-admission',
    means: 'Worst 5 s window: admitted above what the quota granted.',
    badness: ({ overAdmission }) => overAdmission,
    text: ({ overAdmission }) => percent(overAdmission),
  },
  {
    title: 'Worst second',
    means: 'Most that any sliding second admitted, in quotas.',
    badness: ({ worstSecond }) => worstSecond,
    text: ({ worstSecond }) => `${worstSecond.toFixed(2)}×`,
  },
  {
    title: 'Seconds over',
    means: 'Seconds above 1.01 quotas.',
    badness: ({ secondsOver }) => secondsOver,
    text: ({ secondsOver }) => secondsOver.toFixed(1),
  },
  {
    title: 'Used',
    means: 'Admitted of what quota and demand would have allowed.',
    badness: ({ utilisation }) => -utilisation,
    text: ({ utilisation }) => percent(utilisation),
  },
  {
    title: 'Steady error',
    means: 'Admitted against the quota while nothing changes and demand covers it.',
    badness: ({ steadyError }) => (steadyError === null ? null : Math.abs(steadyError)),
    text: ({ steadyError }) => (steadyError === null ? '–' : percent(steadyError, 2)),
  },
  {
    title: 'Refused below fair',
    means: 'Of nodes that ask for less than their fair share: the part that was refused.',
    badness: ({ refusedBelowFair }) => refusedBelowFair,
    text: ({ refusedBelowFair }) => percent(refusedBelowFair, 2),
  },
  {
    title: 'Settled in',
    means: 'Slowest step of demand, quota or membership until use is within 5 % of fair.',
    badness: ({ convergenceMs }) => slowestOf(convergenceMs),
    text: ({ convergenceMs }) => {
      const slowest = slowestOf(convergenceMs);
      if (slowest === null) return '–';
      return slowest === Number.POSITIVE_INFINITY ? 'never' : seconds(slowest);
    },
  },
  {
    title: 'Fairness',
    means: "Jain's index of admitted against max-min shares; 1 = exactly fair.",
    badness: ({ jain }) => -jain,
    text: ({ jain }) => jain.toFixed(3),
  },
  {
    title: 'Oscillation',
    means: 'How much the admitted rates move per second in steady parts, as a part of the quota.',
    badness: ({ oscillation }) => oscillation,
    text: ({ oscillation }) => percent(oscillation),
  },
  {
    title: 'Records',
    means: 'Records or messages sent between nodes, store or topic.',
    badness: ({ records }) => records,
    text: ({ records }) => grouped(records),
  },
  {
    title: 'KB sent',
    means: 'Kilobytes (1,000) of them.',
    badness: ({ bytes }) => bytes,
    text: ({ bytes }) => grouped(Math.round(bytes / 1000)),
  },
];

/** Null without a step; Infinity where one never settled. */
function slowestOf(convergenceMs: Verdict['convergenceMs']): number | null {
  if (convergenceMs.length === 0) return null;
  return Math.max(...convergenceMs.map((took) => took ?? Number.POSITIVE_INFINITY));
}

/** Null where all are alike: then none is best. */
function leastOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  const least = Math.min(...known);
  return Math.max(...known) > least ? least : null;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
