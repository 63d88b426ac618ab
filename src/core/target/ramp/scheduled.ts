import type { RampStep } from './ramp.js';

/**
 * Raises the ceiling with time alone, used or not (Numaflow "scheduled"):
 *
 *     ceiling' = min(top, ceiling + slope · elapsed)
 *
 * *Worked:* 10 → 110 in 10 s: 10, 20, 30; after 5 s of silence 80. Numaflow as shipped skips the ramp at the first use,
 * with which it begins here.
 */
export function scheduled({ ceiling, slope, top, elapsedSeconds }: RampStep): number {
  return Math.min(top, ceiling + slope * elapsedSeconds);
}
