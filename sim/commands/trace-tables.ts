import { finiteOrNull } from '../../src/core/base/shown-rates.js';
import { textTable } from '../../src/tools/terminal/text-table.js';
import type { PageKeys } from '../page/key-table.js';
import { keyRows } from '../replay/key-rows.js';
import type { TraceFound } from '../replay/trace.js';
import { type KeyRun, mostRefused, type TraceRun } from '../replay/trace-run.js';
import type { DimensionSeries } from '../verdict/run-result.js';
import { lines, percent, quotaText, seconds, whole } from './replay-figures.js';
import type { QuotaTold } from './replay-group.js';

interface PlayedAs {
  readonly quota: readonly [number, number];
  readonly quotaTold: QuotaTold;
  readonly speed: number;
  readonly found: TraceFound;
  /** Column of keys with a quota each; null = one for all. */
  readonly per: string | null;
  /** Most keys shown. */
  readonly top: number;
  /** Source of the quota, or empty. */
  readonly note: string;
}

/** Writes each system's figures of a trace. */
export function traceTable(runs: readonly TraceRun[], played: PlayedAs): string {
  const hasBytes = played.quota[1] !== Infinity;
  const refused = hasBytes ? ['refused', 'bytes refused'] : ['refused'];
  const windows = ['worst second', 'over 5 s', 'seconds over'];
  const head = ['system', 'admitted', ...refused, 'used', ...windows, 'records', 'KB'];
  const rows = runs.map((run) => {
    const { system, offered, admitted, offeredBytes, admittedBytes, verdict } = run;
    const { utilisation = 0, worstSecond = 0, overAdmission = 0, secondsOver = 0, records = 0, bytes = 0 } = verdict;
    return [
      system,
      whole(admitted),
      percent((offered - admitted) / (offered || 1)),
      ...(hasBytes ? [percent((offeredBytes - admittedBytes) / (offeredBytes || 1))] : []),
      percent(utilisation),
      `${worstSecond.toFixed(2)}×`,
      percent(overAdmission),
      secondsOver.toFixed(1),
      whole(records),
      whole(bytes / 1000),
    ];
  });
  const [first] = runs;
  const whose = played.per === null ? '' : ` for each of ${whole(first?.keys.length ?? 0)} ${played.per}`;
  const [messages, bytes] = played.quotaTold;
  const limits = `${quotaText('messages', messages)}, ${quotaText('bytes', bytes)}${whose}`;
  const about = `${first?.scenario}: ${whole(first?.offered ?? 0)} messages in ${seconds(first)} at ${first?.nodes.length} nodes; quota ${limits}`;
  const table = textTable(head, rows, head.slice(1));
  return lines([about, ...remarks(runs, played), '', ...table, ...keyTable(runs, played)]);
}

export function traceFacts(runs: readonly TraceRun[], { quota, found, per, top }: PlayedAs) {
  const shown = runs.map(({ keys, ...run }) => {
    if (per === null) return run;
    const most = mostRefused(keys, top);
    return { ...run, keys: most, otherKeys: sumOf(keys.filter((key) => !most.includes(key))) };
  });
  return { quota: quota.map(finiteOrNull), file: found, runs: shown };
}

/** Writes keys by the most refusals of any system. */
export function keyTable(runs: readonly TraceRun[], { per, top }: Pick<PlayedAs, 'per' | 'top'>): string[] {
  if (per === null || runs.length === 0) return [];
  const head = [per, 'asked', ...runs.map(({ system }) => system.replace(/^quotamesh /, ''))];
  const rows = keyRows(runs, top).map(({ name, offered, refused }) => {
    const shares = refused.map((messages) => `${whole(messages)} (${percent(messages / (offered || 1))})`);
    return [printable(name), whole(offered), ...shares];
  });
  return ['', 'refused', ...textTable(head, rows, head.slice(1))];
}

export function pageKeys(runs: readonly TraceRun[], { per, top }: Pick<PlayedAs, 'per' | 'top'>): PageKeys | null {
  return per === null ? null : { per, rows: keyRows(runs, top) };
}

function sumOf(keys: readonly KeyRun[]) {
  const sum = (read: (key: KeyRun) => number) => keys.reduce((total, key) => total + read(key), 0);
  return {
    count: keys.length,
    offered: sum(({ offered }) => offered),
    admitted: sum(({ admitted }) => admitted),
    offeredBytes: sum(({ offeredBytes }) => offeredBytes),
    admittedBytes: sum(({ admittedBytes }) => admittedBytes),
  };
}

/** Shortens and escapes a file's texts. */
function printable(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text).slice(1, -1);
}

export function traceNote(runs: readonly TraceRun[], played: PlayedAs): string {
  const offered = `${whole(runs[0]?.offered ?? 0)} messages. Refused work is not tried again.`;
  return [offered, ...remarks(runs, played)].join(' ');
}

function remarks(runs: readonly TraceRun[], { speed, note }: PlayedAs): string[] {
  const tooLarge = Math.max(0, ...runs.map((run) => run.tooLarge));
  const [first] = runs;
  const idle = first?.nodes.filter((node) => first.series.every(({ perNode }) => isIdle(perNode[node]))).length ?? 0;
  return [
    ...(note === '' ? [] : [note]),
    ...(speed === 1
      ? []
      : [
          `Times and rates are those of the file. A second of the nodes, and of "worst second", is ${Number(speed.toPrecision(4))} s of it.`,
        ]),
    ...(tooLarge === 0 ? [] : [`${whole(tooLarge)} requests are larger than maxRequest, so a node refuses them.`]),
    ...(idle === 0 ? [] : [`${idle} of ${first?.nodes.length} nodes had no request.`]),
  ];
}

function isIdle(series: DimensionSeries['perNode'][string] | undefined): boolean {
  return series?.demand.every((asked) => asked === 0) ?? true;
}
