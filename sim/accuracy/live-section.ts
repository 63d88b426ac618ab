/** Comparison stored by `npm run accuracy:live`: simulator and real processes. */
export interface LiveComparisons {
  readonly bounds: { readonly admittedApart: number };
  readonly topics: Readonly<Record<string, readonly LiveComparison[]>>;
}

export interface LiveComparison {
  readonly scenario: string;
  readonly seconds: number;
  readonly nodes: number;
  readonly seed: number;
  readonly admitted: { readonly simulated: number; readonly live: number; readonly apart: number };
  /** Milliseconds per later step; null = not settled. `agrees`: the medians, within `apartMaxMs`. */
  readonly convergenceMs: {
    readonly simulated: readonly (number | null)[];
    readonly live: readonly (number | null)[];
    readonly median: { readonly simulated: number | null; readonly live: number | null };
    readonly apartMaxMs: number;
    readonly agrees: boolean;
  };
  readonly worstSecond: { readonly simulated: number; readonly live: number };
  /** False = the machine was too busy in every attempt: the figures show the machine. */
  readonly punctual: boolean;
  readonly agrees: boolean;
}

export function liveSection({ bounds, topics }: LiveComparisons): string {
  const all = Object.entries(topics).flatMap(([topic, each]) => each.map((comparison) => ({ topic, ...comparison })));
  const isIn = (kept: number) => `${kept} of ${all.length}`;
  const within = all.filter(({ convergenceMs }) => convergenceMs.agrees).length;
  const close = all.filter(({ admitted }) => Math.abs(admitted.apart) <= bounds.admittedApart).length;
  return [
    'The same file, seed and arrivals, in the simulator and on node processes of this repository in real time',
    `(\`npm run accuracy:live\`). Admitted totals agree within ${100 * bounds.admittedApart} % in ${isIn(close)} runs. Convergence,`,
    `the median of all steps after time 0, agrees within the time given in ${isIn(within)}: one round, and one heartbeat`,
    'where a death has to be noticed. `late` = the machine was too busy to keep to the plan.',
    '',
    '| scenario | topic | seconds | simulated | live | apart | steps | settled, simulated | settled, live | within | |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...all.map(({ scenario, topic, seconds, admitted, convergenceMs, punctual }) => {
      const apart = `${(100 * admitted.apart).toFixed(2)} %`;
      const { median, apartMaxMs } = convergenceMs;
      const settled = `${convergenceMs.live.length} | ${millis(median.simulated)} | ${millis(median.live)} | ${apartMaxMs} ms`;
      const totals = `${admitted.simulated} | ${admitted.live} | ${apart}`;
      return `| ${scenario} | ${topic} | ${seconds} | ${totals} | ${settled} | ${punctual ? '' : 'late'} |`;
    }),
    '',
  ].join('\n');
}

function millis(value: number | null): string {
  return value === null ? 'never' : `${Math.round(value)} ms`;
}
