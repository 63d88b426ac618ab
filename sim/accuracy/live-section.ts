/** What `npm run accuracy:live` measured: a scenario in the simulator and on real node processes. */
export interface LiveComparison {
  readonly scenario: string;
  /** `embedded` or `kafka`. */
  readonly topic: string;
  /** Messages admitted in all. */
  readonly simulatedAdmitted: number;
  readonly liveAdmitted: number;
  /** Slowest step; null = never or no step. */
  readonly simulatedConvergenceMs: number | null;
  readonly liveConvergenceMs: number | null;
}

export function liveSection(comparisons: readonly LiveComparison[]): string {
  const rows = comparisons.map((each) => {
    const difference = (100 * (each.liveAdmitted / each.simulatedAdmitted - 1)).toFixed(2);
    const settled = `${millis(each.simulatedConvergenceMs)} | ${millis(each.liveConvergenceMs)}`;
    return `| ${each.scenario} | ${each.topic} | ${each.simulatedAdmitted} | ${each.liveAdmitted} | ${difference} % | ${settled} |`;
  });
  return [
    'The same file, seed and arrivals, in the simulator and on node processes of this repository under real time',
    '(`npm run accuracy:live`, which fails if the admitted totals differ by more than 5 %).',
    '',
    '| scenario | topic | admitted, simulated | admitted, live | difference | settled, simulated | settled, live |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
  ].join('\n');
}

function millis(value: number | null): string {
  return value === null ? '–' : `${Math.round(value)} ms`;
}
