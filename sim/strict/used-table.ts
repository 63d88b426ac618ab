import { Random } from '../cluster/random.js';
import { StrictPlay } from './play-strict.js';
import { calmWorld } from './strict-world.js';

/** Part of one central bucket that a strict one uses, without faults. */
export interface UsedRow {
  readonly nodes: number;
  /** Seconds of the quota. */
  readonly depthSeconds: number;
  /** Milliseconds to the log, and as many from it, at most. */
  readonly delayMs: number;
  /** Parts of one central bucket, where requests wait, and where none does. */
  readonly waiting: number;
  readonly atOnce: number;
}

const PER_SECOND = 600;
const LOAD = 0.97;
/** Milliseconds that a request waits beside a round trip. */
const WAIT_BESIDE_MS = 60;

/**
 * Plays clusters at 97 % of 600 per second. One node after the other has twice its part. What `quotamesh check` says
 * stands in src/config/resolved/strict-used.ts.
 */
export function* usedTable(): Generator<UsedRow> {
  for (const nodes of [3, 5, 10, 30])
    for (const depthSeconds of [0.1, 0.2, 0.3, 0.5, 1])
      for (const delayMs of [5, 20, 50, 100]) {
        const of = { nodes, depthSeconds, delayMs };
        yield { ...of, waiting: usedOf(of, 2 * delayMs + WAIT_BESIDE_MS), atOnce: usedOf(of, 0) };
      }
}

/** Plays one cell. */
export function usedOf(of: Pick<UsedRow, 'nodes' | 'depthSeconds' | 'delayMs'>, waitMs: number): number {
  const { nodes, depthSeconds, delayMs } = of;
  const depth = Math.round(depthSeconds * PER_SECOND);
  const world = calmWorld({ nodes, perSecond: PER_SECOND, depth, delayMs, load: LOAD, waitMs });
  const { admitted, central } = new StrictPlay(1, world, new Random(1)).run();
  return admitted / central;
}
