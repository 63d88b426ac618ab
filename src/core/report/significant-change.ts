import { FAST, type LaneSample, WINDOW_COUNT } from '../sample/lane-sample.js';
import { DIMENSION_COUNT } from '../vocabulary.js';

/** Rates of a lane as last reported, or as estimated now. Units per second; squares are Σ size² per second. */
export interface LaneRates {
  readonly usage: Float64Array;
  readonly demand: Float64Array;
  readonly squares: Float64Array;
}

export interface ChangeRule {
  /** Which signal the group's strategy reads. */
  readonly reads: 'usage' | 'demand';
  readonly significantChangeRatio: number;
  /** z of the noise rule. */
  readonly noiseFactor: number;
}

export function createLaneRates(): LaneRates {
  return {
    usage: new Float64Array(DIMENSION_COUNT),
    demand: new Float64Array(DIMENSION_COUNT),
    squares: new Float64Array(DIMENSION_COUNT),
  };
}

/**
 * The shortest window that shows a significant change against what was reported, or −1 (PIP-82: "changed significantly",
 * e.g. ±10 %; the noise rule is DESIGN §4):
 *
 *     |rate now − rate reported| > max(significantChangeRatio · rate reported, z · √(2 · Σ size² over the window) / window)
 *
 * Σ size² is the larger of what the window saw and what the reported rate makes one expect: a lull has no squares of its own.
 * Worked (z = 5, sizes 1): reported 2,000/s, 50 ms show 100 ± 10 arrivals; 70 more or fewer are needed: a step to 3,400 or to 600.
 * Reported 80/s, 50 ms without an arrival: 4 expected, 14 needed: no change. z = 2 would report steady Poisson traffic in 16 % of
 * the rounds.
 */
export function noticedIn(sample: LaneSample, reported: LaneRates, rule: ChangeRule, shortest = FAST): number {
  for (let window = shortest; window < WINDOW_COUNT; window++) {
    if (isSignificant(sample, window, reported, rule)) return window;
  }
  return -1;
}

/**
 * Rates over one window.
 *
 * demand = arrivals, each piece of work once. Where clients hold refused work back and try it again, arrivals do not show it;
 * then it is inferred from the part of the time in which such work was refused again (DESIGN §4):
 * demand ≥ usage / (1 − part), at most twice the usage per report; and never less than the usage.
 */
export function estimate(sample: LaneSample, window: number, out: LaneRates): void {
  const now = sample.now;
  const begin = sample.beginOf(window);
  const seconds = (now.atMs - begin.atMs) / 1000;
  if (seconds <= 0) return;
  const heldBack = Math.min(0.5, (now.heldBackMs - begin.heldBackMs) / 1000 / seconds);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const usage = ((now.admitted[dimension] as number) - (begin.admitted[dimension] as number)) / seconds;
    const arrivals = ((now.attempted[dimension] as number) - (begin.attempted[dimension] as number)) / seconds;
    out.usage[dimension] = usage;
    out.demand[dimension] = Math.max(arrivals, usage / (1 - heldBack));
    out.squares[dimension] = ((now.squares[dimension] as number) - (begin.squares[dimension] as number)) / seconds;
  }
}

/** The usage alone, over one window. */
export function estimateUsage(sample: LaneSample, window: number, out: LaneRates): void {
  estimate(sample, window, scratch);
  out.usage.set(scratch.usage);
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
