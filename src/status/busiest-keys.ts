import { setImmediate as turn } from 'node:timers/promises';
import type { KeyStatus } from '../api/key-status.js';
import { BYTES, directionOfLane, lanesOf, MESSAGES } from '../core/base/vocabulary.js';
import { describeKey, type KeyStatusParts } from './describe-key.js';

/**
 * The keys of which most of their quotas is wanted at this node, of those that speak. Silent keys are left out: what is
 * spent of them is less than a part of the quota, and counted nowhere.
 *
 * Looks at a few keys in each turn of the event loop: 100,000 at once would stop the node for 20 ms.
 */
export async function busiestKeys(parts: KeyStatusParts): Promise<KeyStatus[]> {
  const hottest: { readonly name: string; readonly heat: number }[] = [];
  let looked = 0;
  for (const [name, group] of parts.keys?.loud ?? []) {
    if (++looked % LOOKED_PER_TURN === 0) await turn();
    const heat = heatOf(parts, group);
    if (heat === 0 || (hottest.length === SHOWN_MAX && heat <= hottest.at(-1)!.heat)) continue;
    const at = hottest.findIndex((other) => other.heat < heat);
    hottest.splice(at === -1 ? hottest.length : at, 0, { name, heat });
    hottest.length = Math.min(hottest.length, SHOWN_MAX);
  }
  return hottest.flatMap(({ name }) => describeKey(parts, name) ?? []);
}

/** The largest part of a quota that is wanted; 0 = nothing that is limited is wanted. */
function heatOf({ loop: { coordinator }, groups }: KeyStatusParts, group: number): number {
  let heat = 0;
  for (const lane of lanesOf(group)) {
    const state = coordinator?.lanes.get(lane);
    if (state === undefined) continue;
    // A key that is held to its quota tells no more, whatever it wanted when it was told last.
    const { demand } = state.tokens === null ? state.reported : state.current;
    for (const dimension of [MESSAGES, BYTES]) {
      const wanted = demand[dimension] as number;
      const quota = groups.at(group).quota[directionOfLane(lane)][dimension] as number;
      // Work for which the quota is 0 is all refused.
      if (wanted > 0) heat = Math.max(heat, quota === 0 ? Number.MAX_VALUE : wanted / quota);
    }
  }
  return heat;
}

/** A screen of them. */
const SHOWN_MAX = 20;
const LOOKED_PER_TURN = 1000;
