import { DIRECTION_COUNT } from '../../core/base/vocabulary.js';
import type { CoordinatorView } from '../../core/machine/coordinator-view.js';

/** Lists other nodes alive that report use of a lane: they keep its group relaxed. */
export function relaxedElsewhere({ coordinator }: CoordinatorView, lane: number): readonly string[] {
  if (coordinator === null) return [];
  const groupId = coordinator.groupIdOf(Math.floor(lane / DIRECTION_COUNT));
  const { mapLane, partition } = coordinator.laneOf(groupId, lane % DIRECTION_COUNT);
  if (mapLane === -1) return [];
  const { usageMap, membership, nodeKey } = coordinator;
  const alive = membership.on(partition);
  const found: string[] = [];
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = usageMap.rows.nextOf(row)) {
    const member = alive.members[alive.indexOf(usageMap.rows.memberOf(row))];
    if (member !== undefined && member.nodeKey !== nodeKey) found.push(member.nodeId);
  }
  return found;
}
