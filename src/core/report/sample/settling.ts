import { DIMENSION_COUNT, type Rates } from '../../base/vocabulary.js';
import { createLaneRates, estimate, type LaneRates } from './estimate.js';
import { type LaneSample, LONG, SLOW } from './lane-sample.js';
import type { ChangeRule } from './significant-change.js';

/**
 * A change is noticed in a span that still contains some of the old rate, and in a short one, so the first report of
 * a new rate is coarse: 50 ms of 2,000/s are ± 10 %, of 80/s ± 50 %. The noise rule would keep that error until the
 * forced report, minutes later. So the rate since the change is looked at again after 1 … 1,000 fast spans, up to
 * 50 s, and corrected when it differs by more than one standard deviation of what is known by then. At most fifteen
 * more reports per change, a few as a rule, and none if the first was good (docs/decisions/0002).
 *
 * Each look comes when half as much again is known: with 6, 15, 40 an error of 50 ms or 300 ms of arrivals stayed for
 * half a second or more, the whole of what made skewed demands slow to settle.
 */
const LOOKS_IN_FAST_SPANS = [1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40, 60, 100, 300, 1000];
/** Differences below these are too small to matter: 2 % of the reported rate, a thousandth of the target. */
const LOOK_RATIO = 0.02;
const LOOK_TARGET_RATIO = 0.001;

/**
 * The own usage follows the own share. It is reported for people: if the strategy reads the demand, no share depends on
 * it.
 */
const USAGE_AFTER_FAST_SPANS = 100;
const USAGE_RATIO = 0.1;

/** Progress of a lane in its looks. Local monotonic times in milliseconds. */
export interface Settling {
  /** The next look, or −1 when the report is settled. */
  look: number;
  sinceMs: number;
  /** Time from which the reported rates were estimated. */
  restsOnMs: number;
  /** When the own share moved, or −1 when the reported usage has been looked at since. */
  shareMovedMs: number;
}

export interface LookRule extends Pick<ChangeRule, 'reads'> {
  readonly fastSpanMs: number;
  /** In force, units per second; Infinity = unlimited: no share depends on the report. */
  readonly target: Rates;
}

export function createSettling(): Settling {
  return { look: -1, sinceMs: 0, restsOnMs: 0, shareMovedMs: -1 };
}

/** A change was reported now, estimated from `restsOnMs` of samples. */
export function beginSettling(settling: Settling, nowMs: number, restsOnMs: number): void {
  settling.look = 0;
  settling.sinceMs = nowMs;
  settling.restsOnMs = restsOnMs;
}

/** The spans begin anew for another reason than a change: no look is due before they show a rate. */
export function endSettling(settling: Settling): void {
  settling.look = -1;
  settling.shareMovedMs = -1;
}

export function shareMoved(settling: Settling, nowMs: number): void {
  if (settling.shareMovedMs === -1) settling.shareMovedMs = nowMs;
}

/**
 * Tests if a look is due and shows that the reported rates are wrong; then they are to be replaced by those of the long
 * span. A look that is due is used up. One that knows less than the report it would correct has to differ by two
 * standard deviations of both: a rate known from a second of arrivals is not improved by 50 ms of them, but silence
 * shows that half of that second was old.
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
 * Tests if the reported usage is out of date because the own share moved; only the usage is to be replaced, by that of
 * the slow span. To estimate the demand anew as well would move the shares of the others, who would look again, and so
 * on for ever.
 */
export function isUsageOutdated(settling: Settling, sample: LaneSample, reported: LaneRates, rule: LookRule): boolean {
  const { shareMovedMs } = settling;
  const afterMs = USAGE_AFTER_FAST_SPANS * rule.fastSpanMs;
  if (shareMovedMs === -1 || sample.now.atMs - shareMovedMs < afterMs) return false;
  settling.shareMovedMs = -1;
  estimate(sample, SLOW, scratch);
  return scratch.usage.some((usage, dimension) => {
    const before = reported.usage[dimension];
    return Math.abs(usage - before) > USAGE_RATIO * Math.max(usage, before);
  });
}

const scratch = createLaneRates();

/** @param restsOnMs 0 where the look knows more than the report */
function differsFromLong(sample: LaneSample, reported: LaneRates, restsOnMs: number, rule: LookRule): boolean {
  estimate(sample, LONG, scratch);
  const { reads, target } = rule;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const before = reported[reads][dimension];
    const change = Math.abs(scratch[reads][dimension] - before);
    const noise = varianceOf(scratch, dimension, sample.lengthMs(LONG));
    const doubt =
      restsOnMs === 0 ? Math.sqrt(noise) : 2 * Math.sqrt(noise + varianceOf(reported, dimension, restsOnMs));
    if (change > Math.max(LOOK_RATIO * before, LOOK_TARGET_RATIO * target[dimension], doubt)) return true;
  }
  return false;
}

function varianceOf(rates: LaneRates, dimension: number, spanMs: number): number {
  return (1000 * rates.squares[dimension]) / spanMs;
}
