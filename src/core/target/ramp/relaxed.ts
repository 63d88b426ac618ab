import type { RampStep } from './ramp.js';

/**
 * Raises the ceiling by one step per used second (Numaflow "relaxed"):
 *
 *     ceiling' = min(top, ceiling + slope)
 *
 * *Worked:* 10 → 110 in 10 s: 10, 20, 30; after 5 s of silence 40.
 */
export function relaxed({ ceiling, slope, top }: RampStep): number {
  return Math.min(top, ceiling + slope);
}
