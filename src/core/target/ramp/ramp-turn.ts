/** Memory of a lane's ramp between steps. */
export interface RampTurn {
  /** Log time up to which unrecorded use has been counted. */
  servedLogMs: number;
  /** Log time at which the present use of this node began; NaN = none. */
  backLogMs: number;
  /** Local monotonic times of the waiting and the last written step. */
  dueMs: number;
  wroteMs: number;
  /** True = this node's last written step moved the ceiling. */
  isClimbing: boolean;
}

export function createRampTurn(): RampTurn {
  return { servedLogMs: 0, backLogMs: Number.NaN, dueMs: Number.NaN, wroteMs: -Infinity, isClimbing: false };
}
