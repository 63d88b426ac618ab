import { Html, html } from '../../src/page/html.js';
import type { Verdict } from '../verdict/run-result.js';
import type { PageRun } from './page-runs.js';

interface Column {
  readonly title: string;
  readonly means: string;
  readonly key: keyof Verdict;
  readonly isMoreBetter?: boolean;
  /** A system that leaves much of the quota unused is low here by that alone, and gets no tick for it. */
  readonly isLowByWaste?: boolean;
  readonly text: (figure: number) => string;
}

/** One row per system. The best figure of a column is marked by weight and a sign, not by colour alone. */
export function verdictTable(runs: readonly PageRun[], labels: readonly string[]): Html {
  const columns = COLUMNS.filter(({ key }) => runs.some(({ verdict }) => verdict?.[key] !== undefined));
  if (columns.length === 0) return new Html('');
  const best = columns.map((column) => bestOf(column, runs));
  const rows = runs.map((run, at) => {
    const cells = columns.map((column, index) => {
      const figure = figureOf(run, column);
      const text = figure === null ? '–' : column.text(figure);
      return figure !== null && figure === best[index] && isJudged(run, column)
        ? html`<td class="best">${text}</td>`
        : html`<td>${text}</td>`;
    });
    return html`<tr data-run="${at}"><th scope="row"><button type="button" class="pick" data-run="${at}"><span class="badge" aria-hidden="true"></span><span class="name">${labels[at] as string}</span></button></th>${cells}</tr>
`;
  });
  const heads = columns.map(({ title, means }) => html`<th scope="col" title="${means}">${title}</th>`);
  const meanings = columns.map(({ title, means }) => html`<dt>${title}</dt><dd>${means}</dd>`);
  return html`<section aria-labelledby="verdict-title">
<h2 id="verdict-title">Verdict</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Verdict of every system">
<table class="verdict"><thead><tr><th scope="col">System</th>${heads}</tr></thead>
<tbody>${rows}</tbody></table></div>
<details><summary>What the columns mean</summary><dl>${meanings}<dt>✓</dt><dd>${TICK_MEANS}</dd></dl></details>
</section>`;
}

const TICK_MEANS =
  'Best of the column. Who uses less than 95 % of what it might gets none for staying below the quota.';

const percent = (ratio: number, digits = 1) => `${(100 * ratio).toFixed(digits)} %`;
const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;

const COLUMNS: readonly Column[] = [
  {
    title: 'Over-admission',
    means: 'Worst 5 s window: admitted above what the quota granted.',
    key: 'overAdmission',
    isLowByWaste: true,
    text: (ratio) => percent(ratio),
  },
  {
    title: 'Worst second',
    means: 'Most that any sliding second admitted, in quotas.',
    key: 'worstSecond',
    isLowByWaste: true,
    text: (ratio) => `${ratio.toFixed(2)}×`,
  },
  {
    title: 'Seconds over',
    means: 'Seconds above 1.01 quotas.',
    key: 'secondsOver',
    isLowByWaste: true,
    text: (count) => count.toFixed(1),
  },
  {
    title: 'Used',
    means: 'Admitted of what quota and demand would have allowed.',
    key: 'utilisation',
    isMoreBetter: true,
    text: (ratio) => percent(ratio),
  },
  {
    title: 'Steady error',
    means: 'Admitted against the quota while nothing changes and demand covers it.',
    key: 'steadyError',
    text: (ratio) => percent(ratio, 2),
  },
  {
    title: 'Refused below fair',
    means: 'Of nodes that ask for less than their fair share: the part that was refused.',
    key: 'refusedBelowFair',
    text: (ratio) => percent(ratio, 2),
  },
  {
    title: 'Settled in',
    means: 'Slowest step of demand, quota or membership until use is within 5 % of fair.',
    key: 'convergenceMs',
    text: (slowest) => (slowest === Number.POSITIVE_INFINITY ? 'never' : seconds(slowest)),
  },
  {
    title: 'Fairness',
    means: "Jain's index of admitted against max-min shares; 1 = exactly fair.",
    key: 'jain',
    isMoreBetter: true,
    text: (index) => index.toFixed(3),
  },
  {
    title: 'Oscillation',
    means: 'How much the admitted rates move per second in steady parts, as a part of the quota.',
    key: 'oscillation',
    text: (ratio) => percent(ratio),
  },
  { title: 'Records', means: 'Records or messages sent between nodes, store or topic.', key: 'records', text: grouped },
  {
    title: 'KB sent',
    means: 'Kilobytes (1,000) of them.',
    key: 'bytes',
    text: (bytes) => grouped(Math.round(bytes / 1000)),
  },
];

/** The slowest of several steps; Infinity where one never settled, null where there is no figure. */
function figureOf({ verdict }: PageRun, { key }: Column): number | null {
  const figure = verdict?.[key] ?? null;
  if (figure === null || typeof figure === 'number') return figure;
  return figure.length === 0 ? null : Math.max(...figure.map((took) => took ?? Number.POSITIVE_INFINITY));
}

/**
 * The best figure: among errors with a sign the smallest in size. Null where all figures are alike, as then none is
 * best.
 */
function bestOf(column: Column, runs: readonly PageRun[]): number | null {
  const judged = runs.filter((run) => isJudged(run, column));
  const figures = judged.map((run) => figureOf(run, column)).filter((figure) => figure !== null);
  const badness = (figure: number) => (column.isMoreBetter ? -figure : Math.abs(figure));
  const ordered = figures.sort((one, other) => badness(one) - badness(other));
  const [first, last] = [ordered[0], ordered.at(-1)];
  return first === undefined || last === undefined || badness(first) === badness(last) ? null : first;
}

function isJudged({ verdict }: PageRun, { isLowByWaste }: Column): boolean {
  return isLowByWaste !== true || (verdict?.utilisation ?? 1) >= USED_ENOUGH;
}

/** Below this part of what quota and demand would have allowed, a small over-admission is no merit. */
const USED_ENOUGH = 0.95;

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
