import type { GroupId } from '../../core/base/vocabulary.js';
import { BYTES, MESSAGES } from '../../core/base/vocabulary.js';
import type { LaneView } from '../../core/convergence/strategy.js';
import type { Coordinator } from '../../core/machine/coordinator.js';

/** Adds what nodes grant of a silent key to a view of its reports: nobody has to report it (core/report/key-names.ts). */
export function addSilentUse(view: LaneView, coordinator: Coordinator, { groupId, direction, nowMs }: ShownLane): void {
  const alive = coordinator.aliveFor(groupId);
  coordinator.log.keys.forEach(groupId, direction, nowMs, ({ slot }, { messages, bytes }) => {
    const index = alive.indexOf(slot);
    if (index === -1) return;
    for (const column of [view.usage, view.demand]) {
      column[MESSAGES][index] = messages;
      column[BYTES][index] = bytes;
    }
  });
}

interface ShownLane {
  readonly groupId: GroupId;
  readonly direction: number;
  /** Local monotonic time. */
  readonly nowMs: number;
}
