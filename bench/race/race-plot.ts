import type { ContenderResult, TrafficResult } from './results.js';

const WIDTH = 760;
/** Names stand in it. */
const LEFT = 190;
const RIGHT = 24;
const TOP = 34;
const ROW = 58;
/** What is drawn of a row; the rest is between it and the next. */
const STRIP = 46;
const BOTTOM = 26;
/** Rows are cut here, so that windows, which give two quotas around an edge, and what holds no limit fit in. */
const QUOTAS_SHOWN = 2.2;
/** Vermilion for ours, blue for the others: of a palette that colour-blind people can tell apart. Names stand beside. */
const OURS = '#d55e00';
const OTHERS = '#0072b2';

/** Admitted requests per second of each contender, one strip below the other, with the line of the quota. */
export function plotOf(title: string, perSecond: number, rows: readonly ContenderResult[], name: string): string {
  const seen = rows.flatMap((contender) => {
    const traffic = contender.traffics.find((each) => each.name === name);
    return traffic === undefined ? [] : [{ contender: contender.name, traffic }];
  });
  const lastsMs = Math.max(...seen.map(({ traffic }) => lengthMs(traffic)));
  const height = TOP + ROW * seen.length + BOTTOM;
  const heading = `${title}: admitted per second; the dashed line is the quota, ${perSecond}/s`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
      'font-family="sans-serif" font-size="12" role="img">',
    `<title>${heading}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="20" font-size="13" font-weight="bold" fill="#222222">${heading}</text>`,
    ...seen.flatMap(({ contender, traffic }, row) => strip(contender, traffic, perSecond, TOP + row * ROW, lastsMs)),
    ...ticks(lastsMs, height),
    '</svg>',
    '',
  ].join('\n');
}

function strip(name: string, traffic: TrafficResult, quota: number, top: number, lastsMs: number): string[] {
  const colour = name.startsWith('quotamesh') ? OURS : OTHERS;
  const bottom = top + STRIP;
  const y = (rate: number) => round(bottom - (Math.min(rate / quota, QUOTAS_SHOWN) / QUOTAS_SHOWN) * STRIP);
  const x = (ms: number) => round(LEFT + (ms / lastsMs) * (WIDTH - LEFT - RIGHT));
  const { stepMs, perSecond } = traffic.series;
  const steps = perSecond.map((rate, at) => `V${y(rate)}H${x((at + 1) * stepMs)}`).join('');
  const shade = (fromMs: number, toMs: number, fill: string) =>
    `<rect x="${x(fromMs)}" y="${top}" width="${round(x(toMs) - x(fromMs))}" height="${STRIP}" fill="${fill}"/>`;
  return [
    shade(0, traffic.measuredFromMs, '#f0f0f0'),
    ...(traffic.awayMs === null ? [] : [shade(traffic.awayMs.fromMs, traffic.awayMs.toMs, '#f6e3c5')]),
    `<text x="${LEFT - 10}" y="${top + STRIP / 2 + 4}" text-anchor="end" fill="#222222">${name}</text>`,
    `<path d="M${LEFT} ${bottom}${steps}V${bottom}Z" fill="${colour}" fill-opacity="0.35" stroke="${colour}"/>`,
    `<path d="M${LEFT} ${y(quota)}H${WIDTH - RIGHT}" stroke="#222222" stroke-dasharray="4 3"/>`,
  ];
}

function ticks(lastsMs: number, height: number): string[] {
  const seconds = lastsMs / 1000;
  const every = [1, 2, 5, 10, 30, 60].find((step) => seconds / step <= 16) ?? 60;
  return Array.from({ length: Math.floor(seconds / every) + 1 }, (_, at) => {
    const x = round(LEFT + ((at * every) / seconds) * (WIDTH - LEFT - RIGHT));
    return `<text x="${x}" y="${height - 8}" text-anchor="middle" fill="#555555">${at * every} s</text>`;
  });
}

function lengthMs({ series: { stepMs, perSecond } }: TrafficResult): number {
  return stepMs * perSecond.length;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
