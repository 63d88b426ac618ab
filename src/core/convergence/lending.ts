import { ROUNDING_ERROR } from '../base/constants.js';
import { LEAST_PART_RATIO, LENDING_SWEEPS } from './constants.js';
import { liftToFloors } from './floors.js';
import { forEachLimited, type LaneView, type Strategy, sum } from './strategy.js';
import { wantedAtShares } from './wanted.js';
import { waterFill } from './water-fill.js';

/**
 * Wraps a strategy: busy nodes get what others leave of their shares. They get it in proportion to the strategy's
 * shares, and shares that exceed the target are cut in the same way.
 *
 *     givenᵢ = min(wantedᵢ, λ · shareᵢ),   λ so that Σ given = min(target, Σ wanted);   then floors
 *     shareᵢ = givenᵢ + what nobody wants, in proportion to what the strategy gives above givenᵢ
 *
 * *Worked:* target 1,000, proportional, usage 300/150/50, demand 300/2,000/2,000: shares 600/300/100 in this round,
 * then 429/429/143, …; the rounds end at 300/525/175, and so does this. equal-residual, target 100, usage 10/50/30, all
 * want 100: 20/60/40 is cut to 16.7/50/33.3, its own second round.
 *
 * *Why:* in the cluster's bucket, tokens that one node leaves are there for the others at once, and no more can be
 * taken than flows in. So the first round ends where a strategy's further rounds would. A node without a share (no
 * usage and no floor) has what the others leave. Two dimensions are filled in turn, because work that one of them
 * refuses takes nothing of the other.
 */
export function lending(strategy: Strategy): Strategy {
  return {
    ...strategy,
    converge(view) {
      strategy.converge(view);
      isMoved = true;
      for (let sweep = 0; sweep < LENDING_SWEEPS && isMoved; sweep++) {
        isMoved = false;
        forEachLimited(view, lend);
      }
    },
  };
}

let isMoved = false;
/** Scratch, reused for every lane. */
let wanted = new Float64Array(64);
let part = new Float64Array(64);
let given = new Float64Array(64);
let nothing = new Float64Array(64);

function lend(view: LaneView, dimension: number): void {
  const { count } = view;
  reserveScratch(count);
  const share = view.share[dimension];
  const target = view.target[dimension];
  let served = 0;
  let isStarved = false;
  for (let at = 0; at < count; at++) {
    const each = share[at];
    const wants = wantedAtShares(view, at, dimension);
    wanted[at] = wants;
    part[at] = Math.max(LEAST_PART_RATIO, each / target);
    served += Math.min(wants, each);
    if (wants > each && each < LEAST_PART_RATIO * target) isStarved = true;
  }
  const most = Math.min(target, sum(wanted, count));
  const isSpent = served >= most * (1 - ROUNDING_ERROR) && sum(share, count) <= target * (1 + ROUNDING_ERROR);
  if (isSpent && !isStarved) return;
  isMoved = true;
  waterFill(nothing, wanted, part, count, target, given);
  liftToFloors(view, dimension, given);
  handOut(share, count, target - sum(given, count));
}

/** Gives back the unwanted rest to nodes whose share exceeds their demand. */
function handOut(share: Float64Array, count: number, left: number): void {
  let above = 0;
  for (let at = 0; at < count; at++) above += Math.max(0, share[at] - given[at]);
  const keep = left > 0 && above > 0 ? Math.min(1, left / above) : 0;
  for (let at = 0; at < count; at++) {
    const least = given[at];
    share[at] = least + keep * Math.max(0, share[at] - least);
  }
}

function reserveScratch(count: number): void {
  if (wanted.length >= count) return;
  wanted = new Float64Array(count * 2);
  part = new Float64Array(count * 2);
  given = new Float64Array(count * 2);
  nothing = new Float64Array(count * 2);
}
