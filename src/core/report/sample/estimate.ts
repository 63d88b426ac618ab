import { CLAIM_FACTOR } from '../../base/claims.js';
import { BYTES, DIMENSION_COUNT, type LaneUnits, MESSAGES, noUnits } from '../../base/vocabulary.js';
import { BRIEF, type LaneSample, type Mark, SIZES } from './lane-sample.js';

/** Rates of a lane as last reported, or as estimated now. Units per second; squares are Σ size² per second. */
export interface LaneRates {
  readonly usage: LaneUnits;
  readonly demand: LaneUnits;
  readonly squares: LaneUnits;
}

export function createLaneRates(): LaneRates {
  return { usage: noUnits(), demand: noUnits(), squares: noUnits() };
}

/**
 * Rates over one span. demand = arrivals, each piece of work once, and never less than the usage.
 *
 * Where clients hold refused work back and try it again, arrivals do not show it: a full queue lets in only as much as
 * it lets out. A node that goes on refusing such work therefore never reports that it wants no more than it has,
 * but
 *
 *     2 × claim,   claim = max(own share, target/N)
 *
 * so its demand doubles per report until work is held back no more. The share, not the usage, because the share is
 * exact where 50 ms of usage are a handful of pieces; at least target/N, because that much is its due if it wants it.
 * The claim is made in the dimension that is short, and in the other by the weight of a piece of work.
 * Worked: share 60 of 200 and N = 3, held back all the time → claim max(60, 66.7) → demand 133.
 *
 * Only while work is held back (nearly) all the time: a queue that runs empty now and then lets everything in, and its
 * arrivals are exact. To chase every short queue with the share would take it from those whose queue is never empty
 * (docs/decisions/0006).
 */
export function estimate(sample: LaneSample, span: number, out: LaneRates): void {
  const now = sample.now;
  const begin = sample.beginOf(span);
  const seconds = (now.atMs - begin.atMs) / 1000;
  if (seconds <= 0) return;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const usage = (now.admitted(dimension) - begin.admitted(dimension)) / seconds;
    const arrivals = (now.attempted(dimension) - begin.attempted(dimension)) / seconds;
    out.usage[dimension] = usage;
    out.demand[dimension] = Math.max(arrivals, usage);
    out.squares[dimension] = (now.squares(dimension) - begin.squares(dimension)) / seconds;
  }
  if (isHeldBack(sample, Math.max(BRIEF, span))) claimHeldBack(sample, out);
}

function isHeldBack(sample: LaneSample, span: number): boolean {
  if (sample.now.heldBackMs === 0) return false;
  const begin = sample.beginOf(span);
  const elapsedMs = sample.now.atMs - begin.atMs;
  return elapsedMs > 0 && sample.now.heldBackMs - begin.heldBackMs >= HELD_BACK_PART * elapsedMs;
}

/** Estimates the usage alone, over one span. The result is scratch space: read it at once. */
export function usageIn(sample: LaneSample, span: number): LaneUnits {
  estimate(sample, span, scratch);
  return scratch.usage;
}

const scratch = createLaneRates();

/**
 * "All the time" leaves room for samples in which no client happened to come back: half a dozen clients that wait 25 ms
 * come back in three of four samples (docs/decisions/0006).
 */
const HELD_BACK_PART = 0.65;

function claimHeldBack(sample: LaneSample, out: LaneRates): void {
  const bytesPerMessage = weightOf(sample.beginOf(SIZES), sample.now);
  const claimMessages = sample.claim[MESSAGES];
  const claimBytes = sample.claim[BYTES];
  const byBytes = bytesPerMessage > 0 ? claimBytes / bytesPerMessage : Infinity;
  const wantedMessages = CLAIM_FACTOR * Math.min(claimMessages, byBytes);
  const hasBytesOnly = bytesPerMessage === Infinity;
  const wantedBytes = hasBytesOnly ? CLAIM_FACTOR * claimBytes : wantedMessages * bytesPerMessage;
  if (Number.isFinite(wantedMessages)) out.demand[MESSAGES] = Math.max(out.demand[MESSAGES], wantedMessages);
  if (Number.isFinite(wantedBytes)) out.demand[BYTES] = Math.max(out.demand[BYTES], wantedBytes);
}

/**
 * Bytes per message of what was attempted for the first time or admitted; Infinity when there were bytes only, 0
 * without any.
 */
function weightOf(begin: Mark, now: Mark): number {
  const messages = touched(now, MESSAGES) - touched(begin, MESSAGES);
  const bytes = touched(now, BYTES) - touched(begin, BYTES);
  return bytes === 0 ? 0 : bytes / messages;
}

function touched(mark: Mark, dimension: number): number {
  return mark.attempted(dimension) + mark.admitted(dimension);
}
