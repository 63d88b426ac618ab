import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DIMENSION_COUNT } from '../../src/core/base/vocabulary.js';
import { KeyedBuckets } from '../../src/core/limiter/keyed-buckets.js';
import { Limiter } from '../../src/core/limiter/limiter.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What is held when this is called, heap and typed arrays together. */
export function heldBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** With what lies in pages for lanes that have refused, or without. */
export function columnBytesPerDimension(haveRefused: boolean): number {
  const lanes = 10_000;
  const beforeBytes = heldBytes();
  const limiter = new Limiter(lanes);
  for (let lane = 0; haveRefused && lane < lanes; lane++) limiter.countRefused(lane, 1, 100, false);
  return (heldBytes() - beforeBytes) / (limiter.laneCount * DIMENSION_COUNT);
}

/** With the Map entry and the row; the name itself is counted too, 16 characters. */
export function bytesPerName(): number {
  const count = 100_000;
  const beforeBytes = heldBytes();
  const keyed = new KeyedBuckets(count, [100, 1e6], [20, 1e5]);
  for (let at = 0; at < count; at++) keyed.rowOf(`client-${String(at).padStart(9, '0')}`, 0);
  return (heldBytes() - beforeBytes) / keyed.size;
}

/** What 200,000 calls leave in the young generation, the least of five turns; NaN if it was collected in all of them. */
export function allocatedPerCall(run: (times: number) => unknown): number {
  const times = 200_000;
  run(1_000_000);
  let least = Infinity;
  for (let turn = 0; turn < 5; turn++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    run(times);
    const leftBytes = process.memoryUsage().heapUsed - before;
    if (leftBytes >= 0) least = Math.min(least, leftBytes / times);
  }
  return Number.isFinite(least) ? least : Number.NaN;
}
