import { DIMENSION_COUNT, type GroupId } from '../core/base/vocabulary.js';
import type { LaneView } from '../core/convergence/strategy.js';
import type { Coordinator } from '../core/coordinator/coordinator.js';
import type { LaneState } from '../core/lanes/lane-state.js';
import type { ObservedRates } from '../core/usage-map/observed-book.js';

interface ShownLane {
  readonly groupId: GroupId;
  readonly direction: number;
  /** The usage map's number of the lane. */
  readonly mapLane: number;
  /** Local monotonic time. */
  readonly nowMs: number;
}

/**
 * Replaces usage and demand of a view by what heartbeats have published since. Its shares stay as they were computed. A
 * node whose tokens go as others expect reports nothing, whatever became of its rates (core/report/observed-rates.ts).
 *
 * For the same reason a report may still hold a node's first burst while the node is held to its share: rates of
 * reports are shown up to the share. Rates of heartbeats were counted over seconds, and are shown as they are.
 */
export function showNewestRates(view: LaneView, coordinator: Coordinator, lane: ShownLane): void {
  if (view.sharesTokens) holdToShares(view);
  coordinator.log.observed.forEach(lane.groupId, lane.direction, lane.nowMs, (index, { usage, demand }) => {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      (view.usage[dimension] as Float64Array)[index] = usage[dimension] as number;
      (view.demand[dimension] as Float64Array)[index] = demand[dimension] as number;
    }
  });
}

function holdToShares({ usage, share }: LaneView): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const [used, most] = [usage[dimension] as Float64Array, share[dimension] as Float64Array];
    for (let index = 0; index < used.length; index++) used[index] = Math.min(used[index]!, most[index]!);
  }
}

/** What this node has told last of a lane that it serves, with a report or with a heartbeat. */
export function newestOwnRates({ log, membership, nodeKey }: Coordinator, lane: LaneState, nowMs: number): ToldRates {
  let newest: ToldRates = lane.reported;
  const own = membership.indexOf(nodeKey);
  log.observed.forEach(lane.groupId, lane.direction, nowMs, (index, rates) => {
    if (index === own) newest = rates;
  });
  return newest;
}

type ToldRates = Omit<ObservedRates, 'topics'> | Pick<LaneState['reported'], 'usage' | 'demand'>;
