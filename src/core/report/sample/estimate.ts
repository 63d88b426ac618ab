import { CLAIM_FACTOR } from '../../base/constants.js';
import { BYTES, DIMENSION_COUNT, type LaneUnits, MESSAGES, noUnits } from '../../base/vocabulary.js';
import { HELD_BACK_RATIO } from '../constants/constants.js';
import { BRIEF, type LaneSample, type Mark, SIZES } from './lane-sample.js';

/** Units per second of a lane, reported or estimated; squares are Σ size² per second. */
export interface LaneRates {
  readonly usage: LaneUnits;
  readonly demand: LaneUnits;
  readonly squares: LaneUnits;
}

export function createLaneRates(): LaneRates {
  return { usage: noUnits(), demand: noUnits(), squares: noUnits() };
}

/**
 * Estimates the rates over one span. demand = arrivals, each piece of work once, and at least the usage.
 *
 * Where clients hold refused work back and try it again, arrivals do not show it: a full queue lets in only as much as
 * it lets out. A node that goes on refusing such work therefore reports
 *
 *     2 × claim,   claim = max(own share, target/N)
 *
 * so its demand doubles per report until no work is held back. It is the share, not the usage, because the share is
 * exact where 50 ms of usage are a handful of pieces; and at least target/N, which is the node's due. The claim is made
 * in the dimension that is short, and in the other by the weight of a piece of work.
 * Worked: share 60 of 200 and N = 3, held back all the time → claim max(60, 66.7) → demand 133.
 *
 * Only while work is held back (nearly) all the time: a queue that runs empty now and then lets everything in, and its
 * arrivals are exact. If the share followed every short queue, nodes whose queue is never empty would lose it
 * (docs/decisions/0018).
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

/**
 * Tests if work was held back all the time. There is room for samples without a client's return: half a dozen clients
 * that wait 25 ms come back in three of four samples (docs/decisions/0018).
 */
function isHeldBack(sample: LaneSample, span: number): boolean {
  if (sample.now.heldBackMs === 0) return false;
  const begin = sample.beginOf(span);
  const elapsedMs = sample.now.atMs - begin.atMs;
  return elapsedMs > 0 && sample.now.heldBackMs - begin.heldBackMs >= HELD_BACK_RATIO * elapsedMs;
}

/** Estimates the usage alone, over one span. The result is scratch space: read it at once. */
export function usageIn(sample: LaneSample, span: number): LaneUnits {
  estimate(sample, span, scratch);
  return scratch.usage;
}

const scratch = createLaneRates();

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

/** Returns Σ size² ÷ Σ size of work lately: the size of the request that a unit is part of; 0 without any. */
export function requestSizeOf(sample: LaneSample, dimension: number): number {
  const begin = sample.beginOf(SIZES);
  const units = sample.now.attempted(dimension) - begin.attempted(dimension);
  return units > 0 ? (sample.now.squares(dimension) - begin.squares(dimension)) / units : 0;
}

/** Bytes per message of first attempts and admissions; Infinity with bytes only, 0 without any. */
function weightOf(begin: Mark, now: Mark): number {
  const messages = touched(now, MESSAGES) - touched(begin, MESSAGES);
  const bytes = touched(now, BYTES) - touched(begin, BYTES);
  return bytes === 0 ? 0 : bytes / messages;
}

function touched(mark: Mark, dimension: number): number {
  return mark.attempted(dimension) + mark.admitted(dimension);
}
