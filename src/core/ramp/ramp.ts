import { goBackN } from './go-back-n.js';
import { onlyIfUsed } from './only-if-used.js';
import { relaxed } from './relaxed.js';
import { scheduled } from './scheduled.js';

export const RAMP_MODES = ['relaxed', 'scheduled', 'only-if-used', 'go-back-n'] as const;
export type RampModeName = (typeof RAMP_MODES)[number];

/** The longest time to live that settings may give a level, and that a record may claim. */
export const TIME_TO_LIVE_MAX_MS = 30 * 86_400_000;

/** A ceiling that rises from X to Y in t (Numaflow, "ramp up"), for every direction of a group that has a quota. */
export interface RampSettings {
  readonly mode: RampModeName;
  /** Messages/s of the whole cluster at the start. */
  readonly fromPerSecond: number;
  /** At the top; null = the direction's message quota. */
  readonly toPerSecond: number | null;
  /** From the one to the other, log time. */
  readonly overMs: number;
  /** A second counts as used from this part of the level on, 0 … 1 (only-if-used, go-back-n). */
  readonly thresholdRatio: number;
  /** A longer pause than this costs height (go-back-n), log time. */
  readonly coolDownMs: number;
  /** What each second of such a pause takes away, as a part of a second's rise, 0 … 1 (go-back-n). */
  readonly pausePenaltyRatio: number;
  /** A level that nobody used for this long is forgotten, time of the log. */
  readonly timeToLiveMs: number;
}

/** What a mode is asked at the first use in a later second. */
export interface RampStep {
  /** Messages/s, as of the last second that was used. */
  readonly level: number;
  readonly top: number;
  /** Messages/s per second. */
  readonly slope: number;
  /** Since the last second that was used. */
  readonly elapsedSeconds: number;
  /** Of the last second that was used, 0 … 100. */
  readonly usedPercent: number;
}

/** One file per mode; the next level, messages/s. Pure. */
export type RampMode = (step: RampStep, settings: RampSettings) => number;

export const MODES: Readonly<Record<RampModeName, RampMode>> = Object.freeze({
  relaxed,
  scheduled,
  'only-if-used': onlyIfUsed,
  'go-back-n': goBackN,
});

/** Messages/s per second. Worked: 100 → 1,000 in 10 s is 90. */
export function slopeOf({ fromPerSecond, overMs }: RampSettings, top: number): number {
  return ((top - fromPerSecond) / overMs) * 1000;
}

/**
 * How much of a second was used, percent (Numaflow as shipped): what is not left of the level, plus one step as slack
 * for tokens that cannot be divided.
 *
 * Worked: 10 left of 20, slope 10 → 50 + 50 = 100.
 */
export function usedPercent(left: number, level: number, slope: number): number {
  if (level <= 0) return 100;
  const used = Math.max(0, Math.round(100 * (1 - left / level)));
  return Math.min(100, used + Math.round((100 * slope) / level));
}
