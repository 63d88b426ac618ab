import { textTable } from '../../src/tools/terminal/text-table.js';
import { formatMetric, METRICS } from '../verdict/metric-table.js';
import type { ExpectationResult, RunResult } from '../verdict/run-result.js';

/** Writes one run for people: story, events, verdict. */
export function verdictLines(says: string, result: RunResult): readonly string[] {
  const { scenario, system, seed, happenings, verdict, expectations, durationMs } = result;
  const rows = METRICS.map((metric) => {
    const bounds = expectations.filter(({ metric: name }) => name === metric.name);
    return [
      metric.name,
      formatMetric(metric, metric.valueOf(verdict)),
      bounds.map(boundText).join(', '),
      bounds.some(({ isKept }) => !isKept) ? 'missed' : '',
      metric.says,
    ];
  });
  return [
    `${scenario}: ${says}`,
    `${system}, seed ${seed}, ${durationMs / 1000} s`,
    ...happenings.map(({ atMs, says: text }) => `  ${(atMs / 1000).toFixed(1).padStart(6)} s  ${text}`),
    '',
    ...textTable(['Verdict', 'Value', 'Expected', '', 'Meaning'], rows, ['Value']),
  ];
}

function boundText({ atLeast, atMost }: ExpectationResult): string {
  return [atLeast === null ? '' : `≥ ${atLeast}`, atMost === null ? '' : `≤ ${atMost}`].filter(Boolean).join(', ');
}
