import type { LaneState } from '../account/lanes/lane-state.js';
import { MESSAGES } from '../base/vocabulary.js';
import { SHOWN_CHANGE_RATIO } from './constants/constants.js';
import { estimate, type LaneRates } from './sample/estimate.js';
import { type LaneSample, LONG, SLOW } from './sample/lane-sample.js';
import { type ChangeRule, noticedIn } from './sample/significant-change.js';

/**
 * Tests if a lane's rates in the log are wrong. PIP-82 asks for usage reports at a significant change, e.g. ±10 %:
 *
 *     |rate − rate in the row| > max(10 % of it, z standard deviations), over 5 to 10 s or over 1 to 2 min
 *
 * *Worked*, z = 5: 400/s became 450/s. 10 s count 4,500 instead of 4,000 ± 63, so the row is written again.
 *
 * *Why:* a node with only its expected use has no charge to publish (docs/decisions/0002).
 */
export function areRatesWrong(lane: LaneState, topics: number, rule: NoiseRule): boolean {
  const { sample, reported, reportedTopics } = lane;
  if (!sample.isFull(SLOW)) return false;
  // Rates of an unused lane that do not stand out from chance are in use all the same, but one piece shows none.
  if (!lane.entry.isOpen && arrivalsIn(sample, SLOW) >= 2) return true;
  if (Math.abs(topics - reportedTopics) > SHOWN_CHANGE_RATIO * Math.max(topics, reportedTopics))
    return lane.entry.isOpen;
  return (
    noticedIn(sample, reported, { ...rule, reads: 'demand', restsOnMs: Infinity }, SLOW) !== -1 ||
    noticedIn(sample, reported, { ...rule, reads: 'usage', restsOnMs: Infinity }, SLOW) !== -1
  );
}

/** Estimates the rates of a lane far below its quota. They are not urgent: 100 arrivals show them to 10 %. */
export function steadyRates(sample: LaneSample, out: LaneRates): void {
  estimate(sample, arrivalsIn(sample, SLOW) >= 100 ? SLOW : LONG, out);
}

/** Tests if the silence is so long that the rates are over. */
export function areRatesOver({ sample, reported, entry }: LaneState, isNearQuota: boolean): boolean {
  if (!entry.isOpen || !sample.isFull(SLOW) || arrivalsIn(sample, SLOW) > 0) return false;
  const expected = (reported.demand[MESSAGES] * sample.lengthMs(SLOW)) / 1000;
  // Eight expected pieces all stay away by chance once in 3,000 times.
  return isNearQuota || expected >= 8 || (sample.isFull(LONG) && arrivalsIn(sample, LONG) === 0);
}

export type NoiseRule = Pick<ChangeRule, 'significantChangeRatio' | 'noiseFactor'>;

/** Counts pieces of work, also those admitted late. */
function arrivalsIn(sample: LaneSample, span: number): number {
  const [now, begin] = [sample.now, sample.beginOf(span)];
  const came = now.attempted(MESSAGES) - begin.attempted(MESSAGES);
  return Math.max(came, now.admitted(MESSAGES) - begin.admitted(MESSAGES));
}
