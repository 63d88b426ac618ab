import { NODES } from './schedule.js';
import type { Sample } from './watch.js';
import { GROUPS } from './workload.js';

/** A node that has not answered for this long is not counted. */
const FORGOTTEN_MS = 2000;

/** Σ over the nodes of the share that each said to apply, by group, at each of these times. */
export function shareSums(samples: readonly Sample[], seconds: readonly number[]): number[][] {
  const latest: (Sample | undefined)[] = Array.from({ length: NODES });
  let next = 0;
  const columns: number[][] = GROUPS.map(() => []);
  for (const second of seconds) {
    for (; next < samples.length && samples[next].atMs <= second * 1000; next++) {
      const sample = samples[next];
      latest[sample.node] = sample;
    }
    for (const [group, column] of columns.entries()) {
      let sum = 0;
      for (const sample of latest) {
        if (sample?.seen && sample.atMs > second * 1000 - FORGOTTEN_MS) sum += sample.seen.groups[group]?.share ?? 0;
      }
      column.push(Number(sum.toPrecision(4)));
    }
  }
  return columns;
}
