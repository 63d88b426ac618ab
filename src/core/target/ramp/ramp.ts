import type { RampModeName, RampSettings } from '../../base/settings.js';
import { goBackN } from './go-back-n.js';
import { onlyIfUsed } from './only-if-used.js';
import { relaxed } from './relaxed.js';
import { scheduled } from './scheduled.js';

/** Input of a mode at the first use in a later second. */
export interface RampStep {
  /** Ceiling of the last used second, messages/s. */
  readonly ceiling: number;
  readonly top: number;
  /** Messages/s per second. */
  readonly slope: number;
  /** Seconds since the last used second. */
  readonly elapsedSeconds: number;
  /** Used percent of the last used second, 0 … 100. */
  readonly usedPercent: number;
}

/** Computes the next ceiling, messages/s. Pure, one file per mode. */
export type RampMode = (step: RampStep, settings: RampSettings) => number;

export const RAMP_STEPS: Readonly<Record<RampModeName, RampMode>> = Object.freeze({
  relaxed,
  scheduled,
  'only-if-used': onlyIfUsed,
  'go-back-n': goBackN,
});

/** Computes the slope, messages/s per second. *Worked:* 100 → 1,000 in 10 s is 90. */
export function slopeOf({ fromPerSecond, overMs }: RampSettings, top: number): number {
  return ((top - fromPerSecond) / overMs) * 1000;
}

/**
 * Computes the used part of a second, percent (Numaflow as shipped). It is the ceiling less the tokens left, plus one
 * step of slack for tokens that cannot be divided.
 *
 * *Worked:* 10 left of 20, slope 10 → 50 + 50 = 100.
 */
export function usedPercent(left: number, ceiling: number, slope: number): number {
  if (ceiling <= 0) return 100;
  const used = Math.max(0, Math.round(100 * (1 - left / ceiling)));
  return Math.min(100, used + Math.round((100 * slope) / ceiling));
}
