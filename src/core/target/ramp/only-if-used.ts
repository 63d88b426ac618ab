import type { RampSettings } from '../../base/settings.js';
import type { RampStep } from './ramp.js';

/**
 * Raises the ceiling after each used second, else keeps it (Numaflow "onlyIfUsed"):
 *
 *     ceiling' = used ≥ threshold ? min(top, ceiling + slope) : ceiling
 *
 * *Worked:* 10 → 110 in 10 s, threshold 50 %: 40 with 5 used is 13 % + 25 % of slack → 40; with 10 used 50 % → 50.
 */
export function onlyIfUsed({ ceiling, slope, top, usedPercent }: RampStep, { thresholdRatio }: RampSettings): number {
  return usedPercent >= 100 * thresholdRatio ? Math.min(top, ceiling + slope) : ceiling;
}
