import { type KeyRun, mostRefused, refusedOf, type TraceRun } from './trace-run.js';

export interface KeyRow {
  readonly name: string;
  readonly offered: number;
  /** By run. */
  readonly refused: readonly number[];
}

/** Lists most refused keys, then sums of others and all. */
export function keyRows(runs: readonly TraceRun[], top: number): readonly KeyRow[] {
  const keys = runs[0]?.keys ?? [];
  const worst = keys.map((_, at) => {
    const ofKey = runs.map((run) => run.keys[at]);
    return ofKey.reduce((most, key) => (refusedOf(key) > refusedOf(most) ? key : most));
  });
  const shown = mostRefused(worst, top).map((key) => worst.indexOf(key));
  const row = (name: string, keysOf: (run: TraceRun) => readonly KeyRun[]) => ({
    name,
    offered: keysOf(runs[0]).reduce((sum, { offered }) => sum + offered, 0),
    refused: runs.map((run) => keysOf(run).reduce((sum, key) => sum + refusedOf(key), 0)),
  });
  const others = keys.length - shown.length;
  return [
    ...shown.map((at) => row(keys[at].key, (run) => [run.keys[at]])),
    ...(others === 0 ? [] : [row(`${others} others`, (run) => run.keys.filter((_, at) => !shown.includes(at)))]),
    row('all', (run) => run.keys),
  ];
}
