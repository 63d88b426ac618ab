import { FAULTS } from './fault-table.js';
import type { HappenedFault } from './happened.js';
import { BACK_WITHIN_MS, DELIVERY_MS, HEARTBEAT_MS, STALENESS_MS } from './promises.js';

/** One process of a node. Times are milliseconds since the run began. */
export interface Life {
  readonly node: number;
  /** Since when it may have decided; null = never. */
  readonly readyMs: number | null;
  /** Null = it runs on. */
  readonly endedMs: number | null;
  /** It was told to leave, and did; otherwise it counts as killed. */
  readonly isStopped: boolean;
}

/** Returns when two deliveries that begin now are over: what is wrong with the topic, or a way to it, delays them. */
export function toldMs(happened: readonly HappenedFault[], atMs: number): number {
  const endMs = atMs + 2 * DELIVERY_MS;
  const delays = happened
    .filter(({ fault, fromMs, doneMs }) => {
      return FAULTS[fault.kind].scope !== 'process' && fromMs < endMs && doneMs + BACK_WITHIN_MS > atMs;
    })
    .map(({ doneMs }) => doneMs + BACK_WITHIN_MS);
  return Math.max(endMs, ...delays);
}

/**
 * Counts the nodes that the log surely counts: they have decided for two deliveries, and neither left nor expired.
 * @param own the node that counts, and knows itself
 */
export function countedAt(
  lives: readonly Life[],
  happened: readonly HappenedFault[],
  atMs: number,
  own: number,
): number {
  const counted = new Set<number>();
  for (const { node, readyMs, endedMs, isStopped } of lives) {
    if (readyMs === null || readyMs + 2 * DELIVERY_MS > atMs) continue;
    const expiredMs = (endedMs ?? Infinity) + (isStopped ? 0 : STALENESS_MS + HEARTBEAT_MS);
    if (expiredMs > atMs) counted.add(node);
  }
  for (const { fault, fromMs, doneMs } of happened) {
    const isSilent = FAULTS[fault.kind].scope === 'alone' || fault.kind === 'node-freeze';
    if (isSilent && atMs >= fromMs + STALENESS_MS && atMs < doneMs + BACK_WITHIN_MS)
      counted.delete(fault.node as number);
  }
  return counted.add(own).size;
}
