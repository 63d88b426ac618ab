import { finiteOrNull } from '../../core/base/shown-rates.js';
import { DIRECTIONS, MESSAGES, slotOf } from '../../core/base/vocabulary.js';
import type { BusyGroupStatus, NodeStatus } from '../api/node-status.js';
import type { StatusParts } from './status-parts.js';

const SHOWN_MAX = 20;

/** Lists lanes that backends hold, or in report-only would hold, below their quota. */
export function describeBusy({
  loop: { coordinator },
  groups,
}: StatusParts): Pick<NodeStatus, 'busyLanes' | 'busyGroups'> {
  if (coordinator === null) return { busyLanes: 0, busyGroups: [] };
  const busy: BusyGroupStatus[] = [];
  for (const { lane, group, direction, binding, isBusy } of coordinator.lanes.values()) {
    if (!isBusy) continue;
    const target = coordinator.shares.target[slotOf(lane, MESSAGES)];
    busy.push({
      group: groups.at(group).name,
      direction: DIRECTIONS[direction],
      binding,
      targetMessagesPerSecond: finiteOrNull(target),
    });
  }
  busy.sort((one, other) => (one.group < other.group ? -1 : 1));
  return { busyLanes: busy.length, busyGroups: busy.slice(0, SHOWN_MAX) };
}
