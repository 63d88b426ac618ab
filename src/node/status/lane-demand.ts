import { type GroupId, MESSAGES } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';

/** Sums what nodes want of a lane, and counts the rows that were read for it. */
export interface LaneDemand {
  wanted: number;
  rows: number;
}

interface AskedLane {
  readonly groupId: GroupId;
  readonly direction: number;
  readonly dimension: number;
  /** Local monotonic time. */
  readonly nowMs: number;
}

/** Adds up what all nodes alive told last; it asks no strategy, so that it is cheap enough for all lanes. */
export function addDemand(coordinator: Coordinator, asked: AskedLane, demand: LaneDemand): void {
  const { groupId, direction, dimension, nowMs } = asked;
  const { usageMap, log } = coordinator;
  const alive = coordinator.aliveFor(groupId);
  const { rows } = usageMap;
  const mapLane = usageMap.findMapLane(groupId, direction);
  for (let row = mapLane === -1 ? -1 : usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    demand.rows++;
    if (alive.indexOf(rows.memberOf(row)) === -1) continue;
    demand.wanted += rows.pageOf(row).demandOf(rows.startOf(row), dimension);
  }
  log.keys.forEach(groupId, direction, nowMs, (_, { messages, bytes }) => {
    demand.rows++;
    demand.wanted += dimension === MESSAGES ? messages : bytes;
  });
}
