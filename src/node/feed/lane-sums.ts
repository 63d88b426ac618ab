import { finiteOrNull } from '../../core/base/shown-rates.js';
import { BYTES, DIMENSIONS, MESSAGES } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import type { GroupRow } from '../api/live-status.js';
import type { LaneSummary } from '../status/lane-summary.js';
import type { StatusParts } from '../status/status-parts.js';

/** Sums the figures of `GET /v1/groups/{group}`. */
export function rowOf({ config, direction, quota, sums, shownDimension: dimension }: LaneSummary): GroupRow {
  return {
    group: config.name,
    direction,
    dimension: DIMENSIONS[dimension],
    quota: finiteOrNull(quota[dimension]),
    admitted: sums.usage[dimension],
    wanted: sums.demand[dimension],
    throttledNodes: sums.throttledNodes[dimension],
    strategy: config.strategy,
    enabled: config.enabled,
  };
}

/** Lists groups and keys that this node can name. */
export function* namedGroups({ groups, keys }: StatusParts): Generator<number> {
  yield* groups.numbers.values();
  let left = KEYS_LISTED_MAX;
  for (const [, number] of keys?.shown() ?? []) {
    if (left-- === 0) return;
    yield number;
  }
}

/** Counts directions in demand without a name here: unnamed keys, and groups not configured. */
export function countUnnamed(parts: StatusParts): number {
  const { coordinator } = parts.loop;
  if (coordinator === null) return 0;
  const { usageMap } = coordinator;
  const named = new Set(Array.from(namedGroups(parts), (group) => parts.groups.idOf(group)));
  let unnamed = 0;
  usageMap.forEachLane((mapLane) => {
    if (!named.has(usageMap.groupOf(mapLane).groupId) && isWanted(coordinator, mapLane)) unnamed++;
  });
  return unnamed;
}

function isWanted(coordinator: Coordinator, mapLane: number): boolean {
  const { usageMap } = coordinator;
  const { rows } = usageMap;
  const alive = coordinator.aliveFor(usageMap.groupOf(mapLane).groupId);
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    if (alive.indexOf(rows.memberOf(row)) === -1) continue;
    const [page, start] = [rows.pageOf(row), rows.startOf(row)];
    if (page.demandOf(start, MESSAGES) > 0 || page.demandOf(start, BYTES) > 0) return true;
  }
  return false;
}

/** Keys listed at most; sorting them takes 10 ms, and clients make keys without end. */
const KEYS_LISTED_MAX = 10_000;
