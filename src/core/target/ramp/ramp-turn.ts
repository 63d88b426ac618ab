/** Memory of a lane's ramp between steps. */
export interface RampTurn {
  /** Log time up to which use has been accounted for without a record. */
  servedLogMs: number;
  /** Since when a step waits to be written, and when it was; the node's monotonic clock. */
  dueMs: number;
  wroteMs: number;
  /** This node writes the steps, and the last one moved the ceiling. */
  isClimbing: boolean;
}

export function createRampTurn(): RampTurn {
  return { servedLogMs: 0, dueMs: Number.NaN, wroteMs: -Infinity, isClimbing: false };
}
