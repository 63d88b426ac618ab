import { KEY_SCENARIOS, type KeyFigures, playKeys } from './key-scenarios.js';

/** Writes the part of docs/reference/accuracy.md about keys. */
export function keysSection(seeds: readonly number[]): string {
  return [
    'Keys of 600 a minute ([a quota per API key](../guide/keys.md)) on the production book of keys, asked for at random times, 60 s in virtual time, the last 40 s judged;',
    `the worst of seeds ${seeds.join(', ')}. Buckets hold 60 messages where nothing else is said, and are full at the beginning. *First*: of as many`,
    'requests as a bucket holds, the part that was granted. *Used*: granted ÷ what was wanted of the quota, the mean of all keys; *least*',
    'and *most*: of any key in any 10 s. *Beyond*: the most that a key got in any span beyond the quota and one bucket, in buckets.',
    '',
    '| scenario | | first | used | least | most | beyond | refused below the quota | records per node and min |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...KEY_SCENARIOS.map((scenario) => {
      const runs = seeds.map((seed) => playKeys(scenario, seed));
      const { first, used, least, most, beyond, refused, records } = worstOf(runs);
      const rates = [first, used, least, most].map(percent).join(' | ');
      return `| ${scenario.name} | ${scenario.says} | ${rates} | ${beyond.toFixed(2)} | ${percent(refused)} | ${Math.round(records)} |`;
    }),
    '',
  ].join('\n');
}

function worstOf(runs: readonly KeyFigures[]): KeyFigures {
  const worst = <Figure extends keyof KeyFigures>(figure: Figure, choose: typeof Math.min) => {
    const figures = runs.map((run) => run[figure]);
    return figures.includes(null as KeyFigures[Figure]) ? null : choose(...(figures as number[]));
  };
  return {
    first: worst('first', Math.min) as number,
    used: worst('used', Math.min) as number,
    least: worst('least', Math.min),
    most: worst('most', Math.max),
    beyond: worst('beyond', Math.max) as number,
    refused: worst('refused', Math.max),
    records: worst('records', Math.max) as number,
  };
}

function percent(ratio: number | null): string {
  return ratio === null ? '' : `${(100 * ratio).toFixed(1)} %`;
}
