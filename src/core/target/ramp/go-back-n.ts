import type { RampSettings } from '../../base/settings.js';
import type { RampStep } from './ramp.js';

/**
 * Raises the ceiling while it is used, else lowers it (Numaflow "goBackN"):
 *
 *     pause > coolDown: ceiling' = clamp(ceiling − penalty · slope · (pause − 1 s), from, top)
 *     used ≥ threshold: ceiling' = min(top, ceiling + slope)
 *     else:             ceiling' = max(from, ceiling − slope)
 *
 * *Worked:* 10 → 110 in 10 s, cool-down 5 s, penalty 50 %: at 80, after 7 s of silence 80 − 0.5 · 10 · 6 = 50.
 */
export function goBackN(step: RampStep, settings: RampSettings): number {
  const { ceiling, slope, top, elapsedSeconds, usedPercent } = step;
  const { coolDownMs, pausePenaltyRatio, fromPerSecond, thresholdRatio } = settings;
  if (elapsedSeconds * 1000 > coolDownMs) {
    const penalty = pausePenaltyRatio * slope * (elapsedSeconds - 1);
    return Math.min(top, Math.max(fromPerSecond, ceiling - penalty));
  }
  if (usedPercent >= 100 * thresholdRatio) return Math.min(top, ceiling + slope);
  return Math.max(fromPerSecond, ceiling - slope);
}
