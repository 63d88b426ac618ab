import type { Verdict } from './run-result.js';

export interface Metric {
  readonly name: string;
  readonly title: string;
  readonly says: string;
  readonly format: 'percent' | 'ratio' | 'seconds' | 'tokens' | 'count' | 'milliseconds';
  /** Returns a figure: of several the worst; null = unknown, or never settled. */
  readonly valueOf: (verdict: Verdict) => number | null;
}

/** Figures of a verdict in table order; `expect:` bounds them. */
export const METRICS: readonly Metric[] = [
  row('worstSecond', 'worst 1 s', 'Most that any sliding second admitted ÷ what the quota granted in it.', 'ratio'),
  row('overAdmission', 'over 5 s', 'The same over 5 s, minus 1; at least 0.', 'percent'),
  row('secondsOver', 'over for', 'Sliding seconds above 1.01 quotas, looked at every 100 ms.', 'seconds'),
  row(
    'overshootTokens',
    'overshoot',
    'Most units admitted beyond a bucket of the quota with 100 ms of burst.',
    'tokens',
  ),
  row('utilisation', 'used', 'Admitted ÷ what an all-knowing max-min division could have admitted.', 'percent'),
  row('steadyError', 'error', 'Admitted ÷ quota − 1 where things are steady and wanted ≥ quota.', 'percent'),
  row('refusedBelowFair', 'refused', 'Of nodes that want less than their max-min share: refused ÷ asked.', 'percent'),
  {
    name: 'convergenceMs',
    title: 'settled',
    says: 'From a step until the limits fit the fair shares within 5 % for 5 s; the slowest step.',
    format: 'milliseconds',
    valueOf: ({ convergenceMs }) => (convergenceMs.includes(null) ? null : Math.max(0, ...(convergenceMs as number[]))),
  },
  row('jain', 'Jain', 'Jain’s index of admitted ÷ max-min, in the worst steady part.', 'ratio'),
  row('oscillation', 'swing', 'Σ |change of the nodes’ admitted rates| per second ÷ quota, where steady.', 'percent'),
  row('records', 'records', 'Records or messages sent between nodes, topic or store.', 'count'),
  row('bytes', 'bytes', 'Their bytes.', 'count'),
];

/** Averages a figure over runs; null = none, or one never settled. */
export function meanOf(metric: Metric, verdicts: readonly Verdict[]): number | null {
  const values = verdicts.map((verdict) => metric.valueOf(verdict));
  const known = values.filter((value) => value !== null);
  if (known.length === 0 || (metric.name === 'convergenceMs' && known.length < values.length)) return null;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

type Plain = Exclude<keyof Verdict, 'convergenceMs'>;

function row(name: Plain, title: string, says: string, format: Metric['format']): Metric {
  return { name, title, says, format, valueOf: (verdict) => verdict[name] };
}

export function formatMetric({ name, format }: Metric, value: number | null): string {
  if (value === null) return name === 'convergenceMs' ? 'never' : '–';
  switch (format) {
    case 'percent':
      return `${(100 * value).toFixed(2)} %`;
    case 'ratio':
      return value.toFixed(3);
    case 'seconds':
      return `${value.toFixed(1)} s`;
    case 'milliseconds':
      return `${Math.round(value)} ms`;
    case 'tokens':
    case 'count':
      return String(Math.round(value));
  }
}
