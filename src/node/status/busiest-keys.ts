import { setImmediate as turn } from 'node:timers/promises';
import { BYTES, lanesOf, MESSAGES } from '../../core/base/vocabulary.js';
import type { KeyStatus } from '../api/node-status.js';
import { describeKey, type KeyStatusParts } from './describe-key.js';
import { LaneSummary } from './lane-summary.js';

/**
 * Finds the keys with the largest part of their quota wanted. They are loud here, or named by other nodes
 * (core/report/key-names.ts). Takes turns of the event loop: 100,000 keys at once would take 20 ms.
 */
export async function busiestKeys(parts: KeyStatusParts): Promise<KeyStatus[]> {
  const hottest: { readonly name: string; readonly heat: number }[] = [];
  let looked = 0;
  for (const [name, group] of parts.keys?.shown() ?? []) {
    if (++looked % LOOKED_PER_TURN === 0) await turn();
    const heat = heatOf(parts, group);
    if (heat === 0 || (hottest.length === SHOWN_MAX && heat <= hottest.at(-1)!.heat)) continue;
    const at = hottest.findIndex((other) => other.heat < heat);
    hottest.splice(at === -1 ? hottest.length : at, 0, { name, heat });
    hottest.length = Math.min(hottest.length, SHOWN_MAX);
  }
  return hottest.flatMap(({ name }) => describeKey(parts, name) ?? []);
}

/** Returns the largest part of a quota that is wanted: by all nodes, as published; 0 = none. */
function heatOf(parts: KeyStatusParts, group: number): number {
  let heat = 0;
  for (const lane of lanesOf(group)) {
    const summary = new LaneSummary(parts, lane);
    for (const dimension of [MESSAGES, BYTES]) {
      // This node's own count, unpublished yet.
      const own = summary.served;
      const wanted = Math.max(
        summary.wanted(dimension).wanted,
        own?.tokens == null ? 0 : own.current.demand[dimension],
      );
      const quota = summary.quota[dimension];
      // Work with a quota of 0 is all refused.
      if (wanted > 0) heat = Math.max(heat, quota === 0 ? Number.MAX_VALUE : wanted / quota);
    }
  }
  return heat;
}

/** Keys of a screen. */
const SHOWN_MAX = 20;
const LOOKED_PER_TURN = 1000;
