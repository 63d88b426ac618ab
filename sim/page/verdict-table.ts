import { Html, html } from '../../src/doors/page/html.js';
import type { DimensionSeries, Verdict } from '../verdict/run-result.js';
import type { PageRun } from './page-runs.js';

interface Column {
  readonly title: string;
  readonly means: string;
  /** Figure of the verdict, or of the series. */
  readonly key: keyof Verdict | 'refused' | 'refusedBytes';
  /** Best figure: least, most, or nearest to this. */
  readonly best: 'least' | 'most' | number;
  readonly text: (figure: number) => string;
}

/** Draws a row per system; best figures are marked by weight and sign. */
export function verdictTable(runs: readonly PageRun[], labels: readonly string[]): Html {
  const columns = COLUMNS.filter((column) => runs.some((run) => figuresOf(run, column) !== undefined));
  if (columns.length === 0) return new Html('');
  const best = columns.map((column) => bestTextOf(column, runs));
  const rows = runs.map((run, at) => {
    const cells = columns.map((column, index) => {
      const text = textOf(run, column);
      return text === best[index] && isJudged(run, column)
        ? html`<td class="best">${text}</td>`
        : html`<td>${text}</td>`;
    });
    return html`<tr data-run="${at}"><th scope="row"><button type="button" class="pick" data-run="${at}"><span class="badge" aria-hidden="true"></span><span class="name">${labels[at]}</span></button></th>${cells}</tr>
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
  'Best of the column, of systems that use 95 to 105 % of what quota and demand would allow: whoever uses less or admits more is cheap, calm or below the quota by that alone.';

const percent = (ratio: number, digits = 1) => `${signed(100 * ratio, digits)} %`;
const finePercent = (ratio: number) => percent(ratio, 2);
const times = (quotas: number) => `${quotas.toFixed(2)}×`;
const thousandths = (index: number) => index.toFixed(3);
const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;

const COLUMNS = [
  column('Refused', 'refused', 'least', percent, 'Messages that were refused, of all that were asked for.'),
  column('Refused bytes', 'refusedBytes', 'least', percent, 'Bytes that were refused, of all that were asked for.'),
  column('Over-admission', 'overAdmission', 0, percent, 'Worst 5 s window: admitted above what the quota granted.'),
  column('Worst second', 'worstSecond', 'least', times, 'Most that any sliding second admitted, in quotas.'),
  column('Seconds over', 'secondsOver', 'least', (count) => count.toFixed(1), 'Seconds above 1.01 quotas.'),
  column('Used', 'utilisation', 1, percent, 'Admitted of what quota and demand would have allowed.'),
  column(
    'Steady error',
    'steadyError',
    0,
    finePercent,
    'Admitted against the quota while nothing changes and demand covers it.',
  ),
  column(
    'Refused below fair',
    'refusedBelowFair',
    'least',
    finePercent,
    'Of nodes that ask for less than their fair share: the part that was refused.',
  ),
  column(
    'Settled in',
    'convergenceMs',
    'least',
    (slowest) => (slowest === Infinity ? 'never' : seconds(slowest)),
    'Slowest step of demand, quota or membership until use is within 5 % of fair.',
  ),
  column('Fairness', 'jain', 'most', thousandths, "Jain's index of admitted against max-min shares; 1 = exactly fair."),
  column(
    'Oscillation',
    'oscillation',
    'least',
    percent,
    'The movement of the admitted rates per second in steady parts, as a part of the quota.',
  ),
  column('Records', 'records', 'least', grouped, 'Records or messages sent between nodes, store or topic.'),
  column('KB sent', 'bytes', 'least', (bytes) => grouped(Math.round(bytes / 1000)), 'Kilobytes (1,000) of them.'),
];

function column(title: string, key: Column['key'], best: Column['best'], text: Column['text'], means: string): Column {
  return { title, means, key, best, text };
}

/** Reads a figure; undefined = none. A recording's refusals are its live strategy's. */
function figuresOf({ verdict, series }: PageRun, { key }: Column): Verdict[keyof Verdict] | undefined {
  if (key !== 'refused' && key !== 'refusedBytes') return verdict?.[key];
  const dimension = series.find((each) => each.dimension === (key === 'refused' ? 'messages' : 'bytes'));
  return verdict === null || dimension === undefined ? undefined : refusedPart(dimension);
}

function refusedPart({ perNode }: DimensionSeries): number {
  let [refused, demand] = [0, 0];
  for (const node of Object.values(perNode)) {
    for (const rate of node.refused) refused += rate;
    for (const rate of node.demand) demand += rate;
  }
  return demand === 0 ? 0 : refused / demand;
}

/** Returns the slowest step; Infinity = never settled, null = none. */
function figureOf(run: PageRun, column: Column): number | null {
  const figure = figuresOf(run, column) ?? null;
  if (figure === null || typeof figure === 'number') return figure;
  return figure.length === 0 ? null : Math.max(...figure.map((took) => took ?? Infinity));
}

function textOf(run: PageRun, column: Column): string {
  const figure = figureOf(run, column);
  return figure === null ? '–' : column.text(figure);
}

/** Returns the best text; null = all are alike. */
function bestTextOf(column: Column, runs: readonly PageRun[]): string | null {
  const judged = runs.filter((run) => isJudged(run, column) && figureOf(run, column) !== null);
  const texts = new Set(judged.map((run) => textOf(run, column)));
  if (texts.size < 2) return null;
  const badness = (run: PageRun) => {
    const figure = figureOf(run, column) as number;
    if (column.best === 'most') return -figure;
    return column.best === 'least' ? figure : Math.abs(figure - column.best);
  };
  const best = judged.reduce((least, run) => (badness(run) < badness(least) ? run : least));
  return textOf(best, column);
}

/** Tests if a column is judged; used quota always is. */
function isJudged({ verdict }: PageRun, { key }: Column): boolean {
  const used = verdict?.utilisation ?? 1;
  return key === 'utilisation' || (used >= USED_LEAST && used <= USED_MOST);
}

const USED_LEAST = 0.95;
const USED_MOST = 1.05;

/** Formats with a minus sign, none before zero. */
function signed(figure: number, digits: number): string {
  const text = Math.abs(figure).toFixed(digits);
  return figure < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** Groups digits by threes. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}
