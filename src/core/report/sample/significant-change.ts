import { DIMENSION_COUNT } from '../../base/vocabulary.js';
import { createLaneRates, estimate, type LaneRates } from './estimate.js';
import { FAST, type LaneSample, SPAN_COUNT } from './lane-sample.js';

export interface ChangeRule {
  /** Signal that the group's strategy reads. */
  readonly reads: 'usage' | 'demand';
  readonly significantChangeRatio: number;
  /** z of the noise rule. */
  readonly noiseFactor: number;
  /** Milliseconds from which the reported rates were estimated; Infinity without a report. */
  readonly restsOnMs: number;
}

/**
 * Finds the shortest span with a significant change, or −1. PIP-82 says "changed significantly", e.g. ±10 %:
 *
 *     |rate now − rate reported| > max(significantChangeRatio · rate reported, z · √(variance now + variance reported))
 *     variance = Σ size² per second ÷ the time from which the rate was estimated
 *
 * Σ size² now is the larger of that in the span and that of the reported rate: a lull has no squares of its own.
 * Rejected: twice the variance of the span, as if the report rested on a span as short. Mostly it rests on seconds, and
 * then that would amount to z = 7 (docs/decisions/0002). Worked (z = 5, sizes 1): reported 2,000/s, from 20 s; 50 ms
 * show 100 ± 10 arrivals; 50 fewer or 64 more are needed: a step to 1,000 or to 3,300. From 50 ms only: 70 fewer or 105
 * more. Reported 80/s, 50 ms without an arrival: 4 expected, 10 needed: no change.
 */
export function noticedIn(sample: LaneSample, reported: LaneRates, rule: ChangeRule, shortest = FAST): number {
  for (let span = shortest; span < SPAN_COUNT; span++) {
    if (isSignificant(sample, span, reported, rule)) return span;
  }
  return -1;
}

const scratch = createLaneRates();

function isSignificant(sample: LaneSample, span: number, reported: LaneRates, rule: ChangeRule): boolean {
  const seconds = sample.lengthMs(span) / 1000;
  if (seconds <= 0) return false;
  estimate(sample, span, scratch);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const rate = reported[rule.reads][dimension];
    const change = Math.abs(scratch[rule.reads][dimension] - rate);
    if (change <= rule.significantChangeRatio * rate) continue;
    const before = reported.squares[dimension];
    const noise = Math.max(scratch.squares[dimension], before) / seconds + (1000 * before) / rule.restsOnMs;
    if (change > rule.noiseFactor * Math.sqrt(noise)) return true;
  }
  return false;
}
