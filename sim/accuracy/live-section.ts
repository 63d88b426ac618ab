/** What `npm run accuracy:live` stored: scenarios in the simulator and on real node processes. */
export interface LiveComparisons {
  readonly bounds: { readonly admittedApart: number; readonly roundMs: number };
  readonly topics: Readonly<Record<string, readonly LiveComparison[]>>;
}

export interface LiveComparison {
  readonly scenario: string;
  readonly seconds: number;
  readonly nodes: number;
  readonly seed: number;
  /** Messages in all; `apart` = live ÷ simulated − 1. */
  readonly admitted: { readonly simulated: number; readonly live: number; readonly apart: number };
  /** Per step; null = not settled before the next one. */
  readonly convergenceMs: {
    readonly simulated: readonly (number | null)[];
    readonly live: readonly (number | null)[];
    readonly withinOneRound: boolean;
  };
  readonly worstSecond: { readonly simulated: number; readonly live: number };
  /** False: after all attempts the machine still was too busy to send and answer in time; the figures are its own. */
  readonly punctual: boolean;
  readonly agrees: boolean;
}

export function liveSection({ bounds, topics }: LiveComparisons): string {
  const all = Object.entries(topics).flatMap(([topic, each]) => each.map((comparison) => ({ topic, ...comparison })));
  const isIn = (kept: number) => `${kept} of ${all.length}`;
  const within = all.filter(({ convergenceMs }) => convergenceMs.withinOneRound).length;
  const close = all.filter(({ admitted }) => Math.abs(admitted.apart) <= bounds.admittedApart).length;
  return [
    'The same file, seed and arrivals, in the simulator and on node processes of this repository in real time',
    `(\`npm run accuracy:live\`). Admitted totals agree within ${100 * bounds.admittedApart} % in ${isIn(close)} runs; convergence agrees within`,
    `one round (${bounds.roundMs} ms) in ${isIn(within)}. \`late\` = the machine was too busy to keep to the plan.`,
    '',
    '| scenario | topic | seconds | simulated | live | apart | settled, simulated | settled, live | |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...all.map(({ scenario, topic, seconds, admitted, convergenceMs, punctual }) => {
      const apart = `${(100 * admitted.apart).toFixed(2)} %`;
      const settled = `${millis(convergenceMs.simulated)} | ${millis(convergenceMs.live)}`;
      const totals = `${admitted.simulated} | ${admitted.live} | ${apart}`;
      return `| ${scenario} | ${topic} | ${seconds} | ${totals} | ${settled} | ${punctual ? '' : 'late'} |`;
    }),
    '',
  ].join('\n');
}

function millis(values: readonly (number | null)[]): string {
  if (values.length === 0) return '–';
  return `${values.map((value) => (value === null ? 'never' : Math.round(value))).join(', ')} ms`;
}
