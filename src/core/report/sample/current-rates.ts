import { copyUnits, DIMENSION_COUNT } from '../../base/vocabulary.js';
import { CHANCE_DEVIATIONS, CHANCE_PIECES } from '../constants/constants.js';
import type { Clumped } from './clumps.js';
import { createLaneRates, estimate, type LaneRates } from './estimate.js';
import { BRIEF, FAST, type LaneSample, MEDIUM, SLOW } from './lane-sample.js';

/**
 * Estimates the present rates: the slow span's, unless a shorter one shows a change. For that the shorter span must
 * differ by three standard deviations of the longer one's expectation; and by more than two clumps where work comes in
 * clumps, because few of them in a span are no Gaussian.
 *
 * @returns the span
 */
export function currentRates(sample: LaneSample, out: LaneRates, clumped: Clumped): number {
  let found = SLOW;
  estimate(sample, SLOW, out);
  for (const span of SHORTER) {
    const seconds = sample.lengthMs(span) / 1000;
    if (seconds <= 0) continue;
    estimate(sample, span, shorter);
    if (!differs(shorter, out, seconds, clumped)) continue;
    copyUnits(shorter.usage, out.usage);
    copyUnits(shorter.demand, out.demand);
    copyUnits(shorter.squares, out.squares);
    found = span;
  }
  return found;
}

/** From long to short: each is compared with the longest that holds. */
const SHORTER = [MEDIUM, BRIEF, FAST];
const shorter = createLaneRates();

function differs(short: LaneRates, long: LaneRates, seconds: number, clumped: Clumped): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const change = Math.abs(short.demand[dimension] - long.demand[dimension]);
    if (change === 0) continue;
    // A lull has no squares of its own, so those of the longer span count where it has any.
    const from = long.squares[dimension] > 0 ? long : short;
    const squares = from.squares[dimension];
    const pieces = clumped.clumpsOf(dimension);
    const units = (pieces * squares) / from.demand[dimension];
    if (pieces > 1 && change * seconds <= 2 * units) continue;
    const isRise = short.demand[dimension] > long.demand[dimension];
    // Few arrivals are no Gaussian: by deviations alone one of 250 spans of 50 ms shows 150/s of 50/s.
    const skew = isRise && from === long ? (CHANCE_PIECES * units) / seconds : 0;
    if (change > CHANCE_DEVIATIONS * Math.sqrt((pieces * squares) / seconds) + skew) return true;
  }
  return false;
}
