/** Memory of a lane's ramp between steps. */
export interface RampTurn {
  /** Log time up to which unrecorded use has been counted. */
  servedLogMs: number;
  /** Local monotonic times of the waiting and the last written step. */
  dueMs: number;
  wroteMs: number;
  /** True = this node's last written step moved the ceiling. */
  isClimbing: boolean;
}

export function createRampTurn(): RampTurn {
  return { servedLogMs: 0, dueMs: Number.NaN, wroteMs: -Infinity, isClimbing: false };
}
