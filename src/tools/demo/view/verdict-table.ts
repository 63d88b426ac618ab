import { styleText } from 'node:util';
import { textTable } from '../../terminal/text-table.js';
import type { Measurement } from '../measure/meter.js';
import { type Criterion, judge } from '../measure/verdict.js';
import { CLIENT_PATIENCE_MS } from '../traffic/node-clients.js';
import { percent, withCommas } from './figures.js';

/** Writes the end: three deciding promises, figures, and their method; no verdict if interrupted. */
export function verdictLines(measurement: Measurement, isInterrupted = false): string[] {
  const criteria = judge(measurement);
  const rows = [...criteria.map(criterionRow), ...informationRows(measurement)];
  return [
    `after ${measurement.seconds.toFixed(1)} s of traffic`,
    ...textTable(['', 'measured by the clients', 'value', 'promise', ''], rows, ['value', 'promise']),
    isInterrupted ? 'Interrupted: no verdict.' : verdictOf(criteria),
    ...(measurement.acquireP99Ms > BUSY_P99_MS ? [BUSY] : []),
    ...LEGEND,
  ];
}

function verdictOf(criteria: readonly Criterion[]): string {
  const kept = criteria.every((criterion) => criterion.kept);
  const verdict = kept ? 'All three promises kept.' : 'NOT all promises kept.';
  return styleText('bold', styleText(kept ? 'green' : 'red', verdict));
}

const BUSY_P99_MS = 50;
const BUSY =
  'Acquires were slow: other work kept this machine busy, and these figures tell of that rather than of the quota.';

const LEGEND = [
  'demand: arrivals + what waits, in steps of 100 ms; of messages and bytes the one nearer its quota counts, in demand',
  'and in what was admitted. Windows slide by 1 ms. Every second counts, the first one too.',
];

function criterionRow({ name, measured, bound, sense, kept }: Criterion): string[] {
  const sign = sense === 'at least' ? '≥' : '≤';
  const ratio = name.includes('÷');
  const show = (value: number) => (ratio ? value.toFixed(2) : percent(value));
  return [kept ? '✓' : '✗', name, show(measured), `${sign} ${show(bound)}`, ''];
}

function informationRows(measurement: Measurement): string[][] {
  const { nodes, acquireP50Ms, acquireP99Ms } = measurement;
  const total = (key: 'admitted' | 'gaveUp') => withCommas(nodes.reduce((sum, tally) => sum + tally[key][0], 0));
  return [
    ['', 'seconds whose arrivals alone exceed the quota', percent(measurement.secondsAboveQuota)],
    ['', 'seconds in which bytes were the tighter quota', percent(measurement.secondsBytesTighter)],
    ['', "Jain's index against max-min fairness", measurement.jain.toFixed(3)],
    ['', 'POST /v1/acquire, p50 / p99', `${acquireP50Ms.toFixed(1)} / ${acquireP99Ms.toFixed(1)} ms`],
    [
      '',
      `messages admitted / refused after ${CLIENT_PATIENCE_MS / 1000} s`,
      `${total('admitted')} / ${total('gaveUp')}`,
    ],
  ].map((row) => [...row, '', '']);
}
