import type { PageRun } from '../../../sim/page/page-runs.js';
import type { TraceRun } from '../../../sim/replay/play-trace.js';
import type { RecordingReplay } from '../../../sim/replay/replay-recording.js';
import type { DimensionSeries } from '../../../sim/verdict/run-result.js';
import type { Recording } from '../../recording/read-recording.js';
import { textTable } from '../../terminal/text-table.js';

/** What each system made of a trace. */
export function traceTable(runs: readonly TraceRun[], quota: readonly [number, number], note: string): string {
  const head = ['system', 'admitted', 'refused', 'used', 'worst second', 'over 5 s', 'seconds over', 'records', 'KB'];
  const rows = runs.map(({ system, offered, admitted, verdict }) => {
    const { utilisation = 0, worstSecond = 0, overAdmission = 0, secondsOver = 0, records = 0, bytes = 0 } = verdict;
    return [
      system,
      whole(admitted),
      percent((offered - admitted) / (offered || 1)),
      percent(utilisation),
      `${worstSecond.toFixed(2)}×`,
      percent(overAdmission),
      secondsOver.toFixed(1),
      whole(records),
      whole(bytes / 1000),
    ];
  });
  const [first] = runs;
  const limits = [`${rate(quota[0])} messages/s`, `${rate(quota[1])} bytes/s`].join(', ');
  const about = `${first?.scenario}: ${whole(first?.offered ?? 0)} messages in ${seconds(first)} at ${first?.nodes.length} nodes; quota ${limits}`;
  return lines([about, ...(note === '' ? [] : [note]), '', ...textTable(head, rows, head.slice(1))]);
}

export function traceNote(runs: readonly TraceRun[], speed: number, note: string): string {
  return `${whole(runs[0]?.offered ?? 0)} messages, played ${speed} times as fast as recorded. Refused work is not tried again. ${note}`.trim();
}

/** What each strategy would have given from the same log: means over the recording. */
export function recordingTable(recording: Recording, replay: RecordingReplay): string {
  const parts = (replay.runs[0]?.series ?? []).flatMap(({ dimension }, at) => {
    const series = replay.runs.map((run) => run.series[at] as DimensionSeries);
    return ['', `mean ${dimension}/s`, ...shareTable(replay.runs, series)];
  });
  return lines([recordingNote(recording, replay), ...parts]);
}

export function recordingNote({ header, end }: Recording, { runs, records, undecodable }: RecordingReplay): string {
  const facts = [
    `${records} records of cluster ${header.cluster} (topic ${header.topic}), begun ${header.startedAt}`,
    `${seconds(runs[0])} of log time`,
    ...(undecodable > 0 ? [`${undecodable} records were not of this cluster or version`] : []),
    ...(end.damage === null ? [] : [`damaged: ${end.damage.reason}`]),
  ];
  return `${facts.join('; ')}. Admitted and demand are as reported under the strategy that was live; limits are the shares that each strategy gives.`;
}

function shareTable(runs: readonly PageRun[], series: readonly DimensionSeries[]): readonly string[] {
  const names = runs.map(({ system }) => system.replace(/^quotamesh /, ''));
  const head = ['node', 'demand', 'used', ...names];
  const nodes = [...(runs[0]?.nodes ?? [])].sort();
  const rows = nodes.map((node) => {
    const columns = series.map(({ perNode }) => perNode[node]);
    const limits = columns.map((column) => meanLimit(column?.limit ?? []));
    return [node, rate(mean(columns[0]?.demand ?? [])), rate(mean(columns[0]?.admitted ?? [])), ...limits];
  });
  const covered = series.map(({ perNode }) => percent(coveredPart(Object.values(perNode))));
  return textTable(head, [...rows, ['demand covered', '', '', ...covered]], head.slice(1));
}

/** Σ min(share, demand) ÷ Σ demand. */
function coveredPart(nodes: readonly DimensionSeries['perNode'][string][]): number {
  let covered = 0;
  let asked = 0;
  for (const { demand, limit } of nodes) {
    demand.forEach((rateAsked, at) => {
      asked += rateAsked;
      covered += Math.min(rateAsked, limit[at] ?? rateAsked);
    });
  }
  return asked === 0 ? 1 : covered / asked;
}

function meanLimit(limits: readonly (number | null)[]): string {
  return limits.includes(null) ? 'unlimited' : rate(mean(limits as readonly number[]));
}

function mean(column: readonly number[]): number {
  return column.reduce((total, one) => total + one, 0) / Math.max(1, column.length);
}

function rate(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return 'unlimited';
  return value >= 100 ? whole(value) : String(Number(value.toFixed(1)));
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

function seconds(run: PageRun | undefined): string {
  return `${((run?.durationMs ?? 0) / 1000).toFixed(1)} s`;
}

function lines(text: readonly string[]): string {
  return `${text.join('\n')}\n`;
}
