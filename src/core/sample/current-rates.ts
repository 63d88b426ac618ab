import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { createLaneRates, estimate, type LaneRates } from './estimate.js';
import { BRIEF, FAST, type LaneSample, MEDIUM, SLOW } from './lane-sample.js';

/**
 * The rates of a lane now: those of the slow span, unless a shorter span shows that they have changed since. For that
 * the shorter span must differ by three standard deviations of what the longer one makes one expect of it.
 */
export function currentRates(sample: LaneSample, out: LaneRates): void {
  estimate(sample, SLOW, out);
  for (const span of SHORTER) {
    const seconds = sample.lengthMs(span) / 1000;
    if (seconds <= 0) continue;
    estimate(sample, span, shorter);
    if (!differs(shorter, out, seconds)) continue;
    out.usage.set(shorter.usage);
    out.demand.set(shorter.demand);
    out.squares.set(shorter.squares);
  }
}

/** From the longest to the shortest, because each is compared with the longest one that still describes the lane. */
const SHORTER = [MEDIUM, BRIEF, FAST];
const DEVIATIONS = 3;
const shorter = createLaneRates();

function differs(short: LaneRates, long: LaneRates, seconds: number): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const change = Math.abs((short.demand[dimension] as number) - (long.demand[dimension] as number));
    if (change === 0) continue;
    // A lull has no squares of its own, so those of the longer span count where it has any.
    const squares = (long.squares[dimension] as number) || (short.squares[dimension] as number);
    if (change > DEVIATIONS * Math.sqrt(squares / seconds)) return true;
  }
  return false;
}
