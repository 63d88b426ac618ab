import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { createLaneRates, estimate, type LaneRates } from '../sample/estimate.js';
import { BRIEF, FAST, type LaneSample, MEDIUM, SLOW } from '../sample/lane-sample.js';

/**
 * The rates of a lane now: those of the slow span, unless a shorter one shows that they have changed since. A shorter
 * span must differ by three standard deviations of what the longer one makes one expect of it.
 */
export function currentRates(sample: LaneSample, out: LaneRates): void {
  estimate(sample, SLOW, out);
  for (const span of SHORTER) {
    const seconds = sample.lengthMs(span) / 1000;
    if (seconds <= 0) continue;
    estimate(sample, span, scratch);
    if (!differs(scratch, out, seconds)) continue;
    out.usage.set(scratch.usage);
    out.demand.set(scratch.demand);
    out.squares.set(scratch.squares);
  }
}

const SHORTER = [MEDIUM, BRIEF, FAST];
const DEVIATIONS = 3;
const scratch = createLaneRates();

function differs(short: LaneRates, long: LaneRates, seconds: number): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const rate = short.demand[dimension] as number;
    const before = long.demand[dimension] as number;
    if (rate === before) continue;
    const squares = long.squares[dimension] === 0 ? (short.squares[dimension] as number) : (long.squares[dimension] as number);
    if (Math.abs(rate - before) > DEVIATIONS * Math.sqrt(squares / seconds)) return true;
  }
  return false;
}
