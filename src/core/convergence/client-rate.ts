import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { liftToFloors } from './floors.js';
import { addHeadroom } from './headroom.js';
import { type LaneView, needsConvergence, type Strategy, sum } from './strategy.js';
import { wantedBy } from './wanted.js';
import { waterFill } from './water-fill.js';

/**
 * Moves one number for everybody until Σ usage meets the target.
 *
 *     number  = what the trimmed nodes apply now, per weight: the largest applied shareᵢ/wᵢ of those that want more
 *     usage   = Σ min(wᵢ · number, wantedᵢ)
 *     number' = number · target / usage
 *     shareᵢ  = min(wᵢ · number', wantedᵢ), levelled down where Σ would exceed the target;  then floors, headroom
 *
 * FoundationDB's global tag throttling, client mode: it trims the busy and leaves the quiet alone. There a quiet client
 * may hold the number, too, so that a joiner is admitted 1.97 × the quota; here Σ shares is at most the target.
 *
 * *When:* you come from FoundationDB and want its rule: one number for all, which trims the busy
 *
 * *Worked:* target 20, demands 5 and 25, no headroom. From 10 each: usage 5 + 10 → number 10 · 20/15 = 13.3, then 13.3
 * · 20/18.3 = 14.5, 14.9, … 15: shares 5/15. The error falls to 5/20 of itself per round, the part of the target that
 * does not follow the number. With headroom by weight it is faster.
 *
 * *Why:* a quiet node's share is what it wants, and a number that is too large is levelled at once instead of over
 * rounds: by the source's letter Σ limits is N · number. No floor of 1 per client either (with it, 200 clients of 5/s
 * hold 100/s at 200/s for ever): floors sum up to a part of the target. Nobody trimmed: the number is what the richest
 * applies. No applied share known: target/Σw.
 */
export const clientRate: Strategy = {
  name: 'client-rate',
  reads: 'demand',
  remembers: true,
  converge,
};

/** Scratch, reused for every lane. */
let wanted = new Float64Array(64);
let given = new Float64Array(64);
let nothing = new Float64Array(64);

function converge(view: LaneView): void {
  reserveScratch(view.count);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!needsConvergence(view, dimension)) continue;
    for (let at = 0; at < view.count; at++) wanted[at] = wantedBy(view, at, dimension);
    const number = moved(view, numberIn(view, dimension), view.target[dimension]);
    for (let at = 0; at < view.count; at++) {
      wanted[at] = Math.min(wanted[at], view.weight[at] * number);
    }
    waterFill(nothing, wanted, view.weight, view.count, view.target[dimension], given);
    liftToFloors(view, dimension, given);
    addHeadroom(view, dimension, given);
  }
}

/** Finds the number in force. Records of different times may disagree; the largest number counts. */
function numberIn(view: LaneView, dimension: number): number {
  const applied = view.applied[dimension];
  let trimmed = 0;
  let largest = 0;
  for (let at = 0; at < view.count; at++) {
    const number = applied[at] / view.weight[at];
    if (applied[at] < wanted[at]) trimmed = Math.max(trimmed, number);
    largest = Math.max(largest, number);
  }
  if (trimmed > 0) return trimmed;
  return largest > 0 ? largest : view.target[dimension] / sum(view.weight, view.count);
}

function moved(view: LaneView, number: number, target: number): number {
  let usage = 0;
  for (let at = 0; at < view.count; at++) {
    usage += Math.min(wanted[at], view.weight[at] * number);
  }
  return usage > 0 ? number * (target / usage) : number;
}

function reserveScratch(count: number): void {
  if (wanted.length >= count) return;
  wanted = new Float64Array(count * 2);
  given = new Float64Array(count * 2);
  nothing = new Float64Array(count * 2);
}
