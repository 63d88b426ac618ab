import { setImmediate as turn } from 'node:timers/promises';
import { groupIdOf } from '../../core/base/ids.js';
import { BYTES, DIRECTIONS, lanesOf, MESSAGES } from '../../core/base/vocabulary.js';
import type { KeyStatus } from '../api/key-status.js';
import { describeKey, type KeyStatusParts } from './describe-key.js';
import { addDemand } from './lane-demand.js';

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
    const heat = heatOf(parts, name, group);
    if (heat === 0 || (hottest.length === SHOWN_MAX && heat <= hottest.at(-1)!.heat)) continue;
    const at = hottest.findIndex((other) => other.heat < heat);
    hottest.splice(at === -1 ? hottest.length : at, 0, { name, heat });
    hottest.length = Math.min(hottest.length, SHOWN_MAX);
  }
  return hottest.flatMap(({ name }) => describeKey(parts, name) ?? []);
}

/** The largest part of a quota that all nodes want, as they told last; 0 = nothing that is limited is wanted. */
function heatOf({ config, loop: { coordinator }, groups, clock }: KeyStatusParts, name: string, group: number): number {
  if (coordinator === null) return 0;
  const groupId = groupIdOf(config.cluster, name);
  let heat = 0;
  for (const [direction, lane] of lanesOf(group).entries()) {
    for (const dimension of [MESSAGES, BYTES]) {
      const demand = { wanted: 0, rows: 0 };
      addDemand(coordinator, { groupId, direction, dimension, nowMs: clock() }, demand);
      // What this node itself counts, and has not told yet.
      const own = coordinator.lanes.get(lane);
      const wanted = Math.max(demand.wanted, own?.tokens == null ? 0 : own.current.demand[dimension]);
      const quota = groups.at(group).quota[DIRECTIONS[direction]][dimension];
      // Work for which the quota is 0 is all refused.
      if (wanted > 0) heat = Math.max(heat, quota === 0 ? Number.MAX_VALUE : wanted / quota);
    }
  }
  return heat;
}

/** A screen of them. */
const SHOWN_MAX = 20;
const LOOKED_PER_TURN = 1000;
