import { DIMENSION_COUNT, type Rates } from '../../base/vocabulary.js';
import { LOOKS_IN_FAST_SPANS, SMALL_CHANGE_RATIO, TARGET_STEP_RATIO } from '../constants/constants.js';
import { createLaneRates, estimate, type LaneRates } from './estimate.js';
import { type LaneSample, LONG, SLOW } from './lane-sample.js';
import type { ChangeRule } from './significant-change.js';

/** Part of the target of a difference too small to matter. */
const LOOK_TARGET_RATIO = 10 * TARGET_STEP_RATIO;

/**
 * Progress of a lane in its looks at a change's report. Local monotonic times in milliseconds. A change is noticed in a
 * short span that still contains some of the old rate, so the first report of a new rate is coarse: 50 ms of 2,000/s
 * are ± 10 %, of 80/s ± 50 %. The noise rule would keep that error until the forced report, minutes later. So the rate
 * since the change is looked at again for up to 50 s, and corrected when it differs by more than one standard deviation
 * of the present figures. That is at most fifteen more reports per change, a few as a rule, and none if the first was
 * good (docs/decisions/0002).
 *
 * The first looks follow each other closely: an error of the first report would otherwise stay for half a second or
 * more.
 */
export interface Settling {
  /** The next look, or −1 when the report is settled. */
  look: number;
  sinceMs: number;
  restsOnMs: number;
  /** Time of the first share move since the last usage look; −1 = none. */
  shareMovedMs: number;
}

export interface LookRule extends Pick<ChangeRule, 'reads' | 'significantChangeRatio'> {
  readonly fastSpanMs: number;
  /** Units per second in force; Infinity = unlimited: no share depends on the report. */
  readonly target: Rates;
}

export function createSettling(): Settling {
  return { look: -1, sinceMs: 0, restsOnMs: 0, shareMovedMs: -1 };
}

/** Begins the looks after a change reported from `restsOnMs` of samples. */
export function beginSettling(settling: Settling, nowMs: number, restsOnMs: number): void {
  settling.look = 0;
  settling.sinceMs = nowMs;
  settling.restsOnMs = restsOnMs;
}

/** Ends the looks where spans begin anew without a change. */
export function endSettling(settling: Settling): void {
  settling.look = -1;
  settling.shareMovedMs = -1;
}

export function shareMoved(settling: Settling, nowMs: number): void {
  if (settling.shareMovedMs === -1) settling.shareMovedMs = nowMs;
}

/**
 * Tests if a due look shows that the reported rates are wrong. Then those of the long span replace them. A look that is
 * due is used up. One with less time than the report it would correct has to differ by two standard deviations of both:
 * 50 ms of arrivals do not improve a rate that rests on a second of them, but silence shows that half of that second
 * was old.
 */
export function isUnsettled(settling: Settling, sample: LaneSample, reported: LaneRates, rule: LookRule): boolean {
  const { look } = settling;
  if (look === -1) return false;
  const elapsedMs = sample.now.atMs - settling.sinceMs;
  if (elapsedMs < LOOKS_IN_FAST_SPANS[look] * rule.fastSpanMs) return false;
  settling.look = look === LOOKS_IN_FAST_SPANS.length - 1 ? -1 : look + 1;
  const isUnsettled = differsFromLong(sample, reported, elapsedMs < settling.restsOnMs ? settling.restsOnMs : 0, rule);
  // A look that confirms the report makes it as certain as all the time since the change allows.
  settling.restsOnMs = isUnsettled ? elapsedMs : Math.max(settling.restsOnMs, elapsedMs);
  return isUnsettled;
}

/**
 * Tests if a move of the share made the reported usage outdated. Only the usage is replaced then, by that of the slow
 * span, which takes 100 fast ones. A new demand as well would move the shares of the others, who would look again, and
 * so on for ever.
 */
export function isUsageOutdated(settling: Settling, sample: LaneSample, reported: LaneRates, rule: LookRule): boolean {
  const { shareMovedMs } = settling;
  const afterMs = 100 * rule.fastSpanMs;
  if (shareMovedMs === -1 || sample.now.atMs - shareMovedMs < afterMs) return false;
  settling.shareMovedMs = -1;
  estimate(sample, SLOW, scratch);
  return scratch.usage.some((usage, dimension) => {
    const before = reported.usage[dimension];
    return Math.abs(usage - before) > rule.significantChangeRatio * Math.max(usage, before);
  });
}

const scratch = createLaneRates();

/** @param restsOnMs 0 where the look has more time than the report */
function differsFromLong(sample: LaneSample, reported: LaneRates, restsOnMs: number, rule: LookRule): boolean {
  estimate(sample, LONG, scratch);
  const { reads, target } = rule;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const before = reported[reads][dimension];
    const change = Math.abs(scratch[reads][dimension] - before);
    const noise = varianceOf(scratch, dimension, sample.lengthMs(LONG));
    const doubt =
      restsOnMs === 0 ? Math.sqrt(noise) : 2 * Math.sqrt(noise + varianceOf(reported, dimension, restsOnMs));
    if (change > Math.max(SMALL_CHANGE_RATIO * before, LOOK_TARGET_RATIO * target[dimension], doubt)) return true;
  }
  return false;
}

function varianceOf(rates: LaneRates, dimension: number, spanMs: number): number {
  return (1000 * rates.squares[dimension]) / spanMs;
}
