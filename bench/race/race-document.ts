import { BUCKETS_S, type Figures } from './figures.js';
import type { ContenderResult, Results, TrafficResult } from './results.js';
import type { TrafficName } from './traffic.js';

/** A heading and what its traffic is, in the order of the document. */
const SECTIONS: readonly (readonly [TrafficName, string, string])[] = [
  ['steady', 'Steady', 'Poisson arrivals, twice the quota, the same at each node.'],
  ['skewed', 'Skewed', 'Poisson arrivals, twice the quota, four fifths of them at one node.'],
  [
    'trace',
    'A real trace',
    'An hour of requests to a code-completion service, played so fast that their mean is 1.11 quotas.',
  ],
  [
    'bursts',
    'First bursts',
    'After a rest, three seconds of the quota at once at one node; later as much over all nodes at once.',
  ],
  [
    'killed',
    'The store is killed',
    'Poisson arrivals, twice the quota; after 8 s the store is killed, 4 s later it starts again, empty.',
  ],
  [
    'long',
    'Five minutes',
    'As steady, for 300 s. A vendor published this for a gateway that counts in memory and synchronizes: ' +
      '+13.1 % with a period of 50 ms, +3.7 % with 10 ms.',
  ],
];
const EVEN = [
  'contender',
  'all',
  ...BUCKETS_S.map((seconds) => `${seconds} s`),
  'worst second',
  'of an exact bucket',
  'below fair',
  'p50 ms',
  'p99 ms',
  'CPU µs',
  'lost',
];

/** The tables of all traffics that were run, as Markdown. */
export function tablesOf({ contenders }: Results): string {
  return [burstTable(contenders), ...SECTIONS.flatMap((section) => sectionOf(section, contenders))].join('\n\n');
}

export function sectionOf(
  [name, title, says]: (typeof SECTIONS)[number],
  contenders: readonly ContenderResult[],
): string[] {
  const rows = contenders.flatMap((contender) => {
    const found = contender.traffics.find((traffic) => traffic.name === name);
    return found === undefined ? [] : [{ name: contender.name, traffic: found }];
  });
  if (rows.length === 0) return [];
  const table = name === 'bursts' ? burstsTable(rows) : name === 'killed' ? killedTable(rows) : evenTable(rows);
  return [`## ${title}`, says, table];
}

interface Row {
  readonly name: string;
  readonly traffic: TrafficResult;
}

function burstTable(contenders: readonly ContenderResult[]): string {
  const rows = contenders.map(({ name, burst, failure }) => [name, burst, failure ?? 'yes']);
  return table(['contender', 'what an idle quota gives at once', 'ran'], rows);
}

function evenTable(rows: readonly Row[]): string {
  return table(
    EVEN,
    rows.map(({ name, traffic: { whole, cpuMicrosPerRequest } }) => [
      name,
      above(whole.total),
      ...whole.buckets.map(above),
      whole.worstSecond.toFixed(2),
      percent(whole.used),
      percent(whole.belowFair),
      ...latencies(whole),
      cpuMicrosPerRequest === null ? '–' : cpuMicrosPerRequest.toFixed(0),
      String(whole.lost),
    ]),
  );
}

function burstsTable(rows: readonly Row[]): string {
  const bursts = (rows[0] as Row).traffic.bursts;
  const heads = bursts.flatMap(({ nodes, asked }) => {
    return [`admitted of ${asked} at ${nodes === 1 ? 'one node' : `${nodes} nodes`}`, 'above what it may'];
  });
  return table(
    ['contender', ...heads, 'worst second', 'p50 ms', 'p99 ms', 'lost'],
    rows.map(({ name, traffic: { whole, bursts: seen } }) => [
      name,
      ...seen.flatMap(({ admitted, allowed }) => [String(admitted), above(admitted / allowed - 1)]),
      whole.worstSecond.toFixed(2),
      ...latencies(whole),
      String(whole.lost),
    ]),
  );
}

function killedTable(rows: readonly Row[]): string {
  return table(
    [
      'contender',
      'quota used while away',
      'lost while away',
      'of all',
      'used after its return',
      'lost after',
      'worst second',
      'p99 ms while away',
    ],
    rows.map(({ name, traffic: { whole, away, back } }) => [
      name,
      ...(away === null
        ? ['–', '–', '–']
        : [percent(1 + away.total), String(away.lost), percent(away.lost / away.asked)]),
      ...(back === null ? ['–', '–'] : [percent(1 + back.total), String(back.lost)]),
      whole.worstSecond.toFixed(2),
      away === null ? '–' : (latencies(away)[1] as string),
    ]),
  );
}

function latencies({ p50Ms, p99Ms }: Figures): [string, string] {
  return [milliseconds(p50Ms), milliseconds(p99Ms)];
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : value.toFixed(value < 10 ? 2 : 0);
}

function above(part: number | null): string {
  if (part === null) return '–';
  return `${part < -0.0005 ? '−' : '+'}${(100 * Math.abs(part)).toFixed(1)} %`;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
