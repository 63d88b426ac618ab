import type { LaneState } from '../account/lanes/lane-state.js';
import { MESSAGES } from '../base/vocabulary.js';
import { SHOWN_CHANGE_RATIO } from './constants/constants.js';
import { estimate, type LaneRates } from './sample/estimate.js';
import { type LaneSample, LONG, SLOW } from './sample/lane-sample.js';
import { type ChangeRule, noticedIn } from './sample/significant-change.js';

/**
 * Finds the span that shows a lane's published rates wrong, or −1. PIP-82 asks for usage reports at a significant
 * change, e.g. ±10 %:
 *
 *     |rate − rate in the row| > max(10 % of it, z standard deviations), over 5 to 10 s or over 1 to 2 min
 *
 * *Worked*, z = 5: 400/s became 450/s. 10 s count 4,500 instead of 4,000 ± 63, so the row is written again.
 *
 * *Why:* a node with only its expected use has no charge to publish (docs/decisions/0002).
 *
 * A row of the first moments is coarse: it holds the first burst. It is compared once with the time since, which is
 * longer, by one standard deviation of that (sample/settling.ts).
 *
 * *Worked*, 10/s, asked 15/s: after 2 s the row has 15/s, 5 s later it is 10/s ± 1.4.
 */
export function wrongSpan(lane: LaneState, topics: number, rule: NoiseRule): number {
  const { sample, reportedTopics, entry } = lane;
  if (!sample.isFull(SLOW)) return -1;
  // Rates of an unused lane that do not stand out from chance are in use all the same, but one piece shows none.
  if (!entry.isOpen && arrivalsIn(sample, SLOW) >= 2) return SLOW;
  if (lane.isCoarse) {
    lane.isCoarse = false;
    if (differ(lane, LONG, rule, 1)) return LONG;
  }
  if (differ(lane, SLOW, rule, rule.noiseFactor)) return SLOW;
  const isOtherTopics = Math.abs(topics - reportedTopics) > SHOWN_CHANGE_RATIO * Math.max(topics, reportedTopics);
  // The rates go on as they were.
  return isOtherTopics && entry.isOpen ? longestOf(sample) : -1;
}

function longestOf(sample: LaneSample): number {
  return sample.lengthMs(LONG) < sample.lengthMs(SLOW) ? SLOW : LONG;
}

/** Tests if a span from `shortest` on differs from the published rates. */
function differ({ sample, reported }: LaneState, shortest: number, rule: NoiseRule, deviations: number): boolean {
  const { significantChangeRatio, clumped } = rule;
  const change = { significantChangeRatio, noiseFactor: clumped * deviations, restsOnMs: Infinity };
  return (
    noticedIn(sample, reported, { ...change, reads: 'demand' }, shortest) !== -1 ||
    noticedIn(sample, reported, { ...change, reads: 'usage' }, shortest) !== -1
  );
}

/** Estimates the rates of a lane far below its quota. They are not urgent: 100 arrivals show them to 10 %. */
export function steadyRates(sample: LaneSample, out: LaneRates): void {
  estimate(sample, arrivalsIn(sample, SLOW) >= 100 ? SLOW : longestOf(sample), out);
}

/** Tests if the silence is so long that the rates are over. */
export function areRatesOver({ sample, reported, entry }: LaneState, isNearQuota: boolean): boolean {
  if (!entry.isOpen || !sample.isFull(SLOW) || arrivalsIn(sample, SLOW) > 0) return false;
  const expected = (reported.demand[MESSAGES] * sample.lengthMs(SLOW)) / 1000;
  // Eight expected pieces all stay away by chance once in 3,000 times.
  return isNearQuota || expected >= 8 || (sample.isFull(LONG) && arrivalsIn(sample, LONG) === 0);
}

export interface NoiseRule extends Pick<ChangeRule, 'significantChangeRatio' | 'noiseFactor'> {
  /** Standard deviations of work that comes together ÷ those of single pieces. */
  readonly clumped: number;
}

/** Counts pieces of work, also those admitted late. */
function arrivalsIn(sample: LaneSample, span: number): number {
  const [now, begin] = [sample.now, sample.beginOf(span)];
  const came = now.attempted(MESSAGES) - begin.attempted(MESSAGES);
  return Math.max(came, now.admitted(MESSAGES) - begin.admitted(MESSAGES));
}
