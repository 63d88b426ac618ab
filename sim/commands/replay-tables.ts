import { textTable } from '../../src/tools/terminal/text-table.js';
import type { Recording } from '../../src/topic/recording/read-recording.js';
import type { PageRun } from '../page/page-runs.js';
import type { RecordingReplay } from '../replay/replay-recording.js';
import type { DimensionSeries } from '../verdict/run-result.js';
import { lines, percent, rate, seconds } from './replay-figures.js';

/** Writes each strategy's means over the recording. */
export function recordingTable(recording: Recording, replay: RecordingReplay): string {
  const parts = (replay.runs[0]?.series ?? []).flatMap(({ dimension }, at) => {
    const series = replay.runs.map((run) => run.series[at]);
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
  return `${facts.join('; ')}. Admitted and demand are as told under the strategy that was live; limits are the shares that each strategy gives.`;
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

/** Returns Σ min(share, demand) ÷ Σ demand. */
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
