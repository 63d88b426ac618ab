import { DIMENSION_COUNT } from '../core/base/vocabulary.js';
import type { LaneView } from '../core/convergence/strategy.js';
import type { Coordinator } from '../core/coordinator/coordinator.js';

interface ShownLane {
  readonly groupId: number;
  readonly direction: number;
  /** Local monotonic time. */
  readonly nowMs: number;
}

/**
 * Replaces the usage and the demand of a view, of which the shares have been computed, by what heartbeats have told
 * since: a node whose tokens go as others expect reports nothing, whatever became of its rates
 * (core/report/observed-rates.ts).
 */
export function showNewestRates(view: LaneView, coordinator: Coordinator, lane: ShownLane): void {
  coordinator.log.observed.forEach(lane.groupId, lane.direction, lane.nowMs, (index, { usage, demand }) => {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      (view.usage[dimension] as Float64Array)[index] = usage[dimension] as number;
      (view.demand[dimension] as Float64Array)[index] = demand[dimension] as number;
    }
  });
}
