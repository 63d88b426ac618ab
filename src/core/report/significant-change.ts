import { FAST, type LaneSample, WINDOW_COUNT } from '../sample/lane-sample.js';
import { DIMENSION_COUNT } from '../vocabulary.js';
import { createLaneRates, estimate, type LaneRates } from './estimate.js';

export interface ChangeRule {
  /** Which signal the group's strategy reads. */
  readonly reads: 'usage' | 'demand';
  readonly significantChangeRatio: number;
  /** z of the noise rule. */
  readonly noiseFactor: number;
}

/**
 * The shortest window that shows a significant change against what was reported, or −1 (PIP-82: "changed
 * significantly", e.g. ±10 %; the noise rule is DESIGN §4):
 *
 *     |rate now − rate reported| > max(significantChangeRatio · rate reported, z · √(2 · Σ size² over the window) /
 * window)
 *
 * Σ size² is the larger of what the window saw and what the reported rate makes one expect: a lull has no squares of
 * its own.
 * Worked (z = 5, sizes 1): reported 2,000/s, 50 ms show 100 ± 10 arrivals; 70 fewer or 105 more are needed: a step to
 * 600 or to 4,100. Reported 80/s, 50 ms without an arrival: 4 expected, 14 needed: no change. z = 2 would report steady
 * Poisson traffic in 16 % of the rounds.
 */
export function noticedIn(sample: LaneSample, reported: LaneRates, rule: ChangeRule, shortest = FAST): number {
  for (let window = shortest; window < WINDOW_COUNT; window++) {
    if (isSignificant(sample, window, reported, rule)) return window;
  }
  return -1;
}

const scratch = createLaneRates();

function isSignificant(sample: LaneSample, window: number, reported: LaneRates, rule: ChangeRule): boolean {
  const seconds = sample.lengthMs(window) / 1000;
  if (seconds <= 0) return false;
  estimate(sample, window, scratch);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const before = reported[rule.reads][dimension] as number;
    const change = Math.abs((scratch[rule.reads][dimension] as number) - before);
    if (change <= rule.significantChangeRatio * before) continue;
    const squares = Math.max(scratch.squares[dimension] as number, reported.squares[dimension] as number) * seconds;
    if (change > (rule.noiseFactor * Math.sqrt(2 * squares)) / seconds) return true;
  }
  return false;
}
