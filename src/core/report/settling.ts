import { type LaneSample, SLOW } from '../sample/lane-sample.js';
import { DIMENSION_COUNT } from '../vocabulary.js';
import { type ChangeRule, createLaneRates, estimate, isSignificant, type LaneRates } from './significant-change.js';

/**
 * A change is noticed in a window that still contains some of the old rate, and in a short one, so the first report of a new rate is
 * coarse: 50 ms of 2,000/s are ± 10 %, of 80/s ± 50 %. The noise rule would keep that error until the forced report, minutes
 * later. So the rate since the change is looked at again after 1, 3, 6, 15, 40 and 100 fast windows, at one and a half standard deviations instead
 * of five; the last look, over the slow window, corrects 2 % of the demand, and 10 % of the usage, which is for people only where
 * the strategy reads the demand. At most six more reports per change, none if the first was good (docs/decisions/0002).
 */
const LOOKS_IN_FAST_WINDOWS = [1, 3, 6, 15, 40, 100];
const LAST_LOOK = LOOKS_IN_FAST_WINDOWS.length - 1;
/** One would chase the noise of small rates, two would miss what is left of a step in the first 50 ms. */
const LOOK_NOISE_FACTOR = 1.5;
const LAST_DEMAND_RATIO = 0.02;
const LAST_USAGE_RATIO = 0.1;

/** Where a lane stands in its looks; `look` is the next one, or −1 when the report is settled. */
export interface Settling {
  look: number;
  sinceMs: number;
}

export function createSettling(): Settling {
  return { look: -1, sinceMs: 0 };
}

/** A change was reported now. */
export function beginSettling(settling: Settling, nowMs: number): void {
  settling.look = 0;
  settling.sinceMs = nowMs;
}

/** The demand is settled, but the own share moved and the usage with it: only the last look is needed. */
export function beginLastLook(settling: Settling, nowMs: number): void {
  if (settling.look !== -1) return;
  settling.look = LAST_LOOK;
  settling.sinceMs = nowMs;
}

/** Whether a look is due and shows that the reported rates are wrong. A look that is due is used up. */
export function isUnsettled(
  settling: Settling,
  sample: LaneSample,
  reported: LaneRates,
  rule: ChangeRule & FastWindow,
): boolean {
  const look = settling.look;
  if (look === -1) return false;
  const afterMs = (LOOKS_IN_FAST_WINDOWS[look] as number) * rule.fastWindowMs;
  if (sample.now.atMs - settling.sinceMs < afterMs) return false;
  settling.look = look === LAST_LOOK ? -1 : look + 1;
  if (look === LAST_LOOK) return differsMuch(sample, reported);
  const relaxed = { ...rule, noiseFactor: LOOK_NOISE_FACTOR };
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (isSignificant(sample, SLOW, dimension, reported, relaxed)) return true;
  }
  return false;
}

interface FastWindow {
  readonly fastWindowMs: number;
}

const scratch = createLaneRates();

function differsMuch(sample: LaneSample, reported: LaneRates): boolean {
  estimate(sample, SLOW, scratch);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (differs(scratch.demand, reported.demand, dimension, LAST_DEMAND_RATIO)) return true;
    if (differs(scratch.usage, reported.usage, dimension, LAST_USAGE_RATIO)) return true;
  }
  return false;
}

function differs(now: Float64Array, before: Float64Array, dimension: number, ratio: number): boolean {
  const one = now[dimension] as number;
  const other = before[dimension] as number;
  return Math.abs(one - other) > ratio * Math.max(one, other);
}
