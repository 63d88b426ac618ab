import { setImmediate as turn } from 'node:timers/promises';
import { BYTES, lanesOf, MESSAGES } from '../../core/base/vocabulary.js';
import type { KeyStatus } from '../api/key-status.js';
import { describeKey, type KeyStatusParts } from './describe-key.js';
import { LaneSummary } from './lane-summary.js';

/**
 * Finds the keys of which the largest part of the quota is wanted. They are those that are loud here, and those that
 * other nodes name (core/report/key-names.ts).
 *
 * Looks at a few keys in each turn of the event loop: 100,000 at once would stop the node for 20 ms.
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

/** The largest part of a quota that all nodes want, as they told last; 0 = nothing that is limited is wanted. */
function heatOf(parts: KeyStatusParts, group: number): number {
  let heat = 0;
  for (const lane of lanesOf(group)) {
    const summary = new LaneSummary(parts, lane);
    for (const dimension of [MESSAGES, BYTES]) {
      // What this node itself counts, and has not told yet.
      const own = summary.served;
      const wanted = Math.max(
        summary.wanted(dimension).wanted,
        own?.tokens == null ? 0 : own.current.demand[dimension],
      );
      const quota = summary.quota[dimension];
      // Work for which the quota is 0 is all refused.
      if (wanted > 0) heat = Math.max(heat, quota === 0 ? Number.MAX_VALUE : wanted / quota);
    }
  }
  return heat;
}

/** A screen of them. */
const SHOWN_MAX = 20;
const LOOKED_PER_TURN = 1000;
