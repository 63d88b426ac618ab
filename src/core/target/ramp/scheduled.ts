import type { RampStep } from './ramp.js';

/**
 * The ceiling rises with time alone, used or not (Numaflow "scheduled"):
 *
 *     ceiling' = min(top, ceiling + slope · elapsed)
 *
 * Worked: 10 → 110 in 10 s: 10, 20, 30; after 5 s of silence 80. As shipped the first second came decades after "the
 * last one", and the ramp was skipped; here a ramp begins with the first use.
 */
export function scheduled({ ceiling, slope, top, elapsedSeconds }: RampStep): number {
  return Math.min(top, ceiling + slope * elapsedSeconds);
}
