import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { MAX_MIN_SWEEPS, SETTLED_RATIO } from './constants.js';
import { addHeadroom } from './headroom.js';
import { larger, smaller } from './smaller-larger.js';
import { type LaneView, needsConvergence, type Strategy, sum } from './strategy.js';
import { findWaterLevel } from './water-level.js';

/**
 * Gives everybody what they want, or an equal part of the rest.
 *
 *     floorᵢ = floorRatio · target · wᵢ/Σw
 *     partᵢ  = min(1, wᵢ · L ÷ demandᵢ in every dimension):  what node i can use of its demand
 *     givenᵢ = max(floorᵢ, partᵢ · demandᵢ)
 *     L of each dimension so that Σ given = target; Infinity where that is more than what is asked for
 *     share  = given + headroom
 *
 * Weighted max-min fairness over *demand*: nobody gets more than it wants while somebody else has less and wants more.
 * Refused work counts as demand, so one report is enough.
 *
 * *When:* always, unless you know why not: fair, in one report plus one delivery, nothing lies idle
 *
 * *Worked:* target 100, demands 70/70 → 50/50; 10/80/80 → 10/45/45; 20/30 → 45/55, with 25 of headroom each. Nobody
 * wants anything → target · wᵢ/Σw. Jointly: messages 100, bytes 1,000; A wants 100 and 2,000, B wants 100 and 100.
 * Apart, A gets 50 and 900 and can use 45 %, B gets 50 and 100 and can use 50 %: 5 messages and 50 bytes lie idle.
 * Jointly A has 47.37 % and B 52.63 %: nothing does.
 *
 * *Why:* the water levels are found in turn, each with what the others let a node use, in at most 8 sweeps from
 * Infinity. Of two dimensions the first water level is too low at first, because the second holds nobody back yet. So
 * the second is too high, and from then on the first only rises and the second only falls. Hence Σ given ≤ target after
 * every sweep, and the second dimension, where it binds, is given away to the last unit. Rejected: filling both from
 * the water levels of the sweep before, which takes twice the fills.
 *
 * Silent cases, our choice: a node with no demand keeps its floor; a blocked dimension (target 0) stops a node in the
 * others too where it wants the blocked one.
 */
export const maxMin: Strategy = {
  name: 'max-min',
  reads: 'demand',
  meetsAll: true,
  converge,
};

const NONE = -1;

/** Scratch, reused for every lane: the steady state allocates nothing. */
const limited: boolean[] = [];
const waterLevel = new Float64Array(DIMENSION_COUNT);
/** Water level of equal shares; no other is lower. */
const even = new Float64Array(DIMENSION_COUNT);
/** floorᵢ/wᵢ per dimension. */
const floor = new Float64Array(DIMENSION_COUNT);
let part = new Float64Array(0);
let asked = new Float64Array(0);

function converge(view: LaneView): void {
  let limitedCount = 0;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    limited[dimension] = needsConvergence(view, dimension);
    waterLevel[dimension] = view.target[dimension] === 0 ? 0 : Infinity;
    if (limited[dimension]) limitedCount++;
  }
  if (limitedCount === 0) return;
  reserveScratch(view.count);
  setFloors(view);
  let settled = false;
  for (let sweep = 0; sweep < MAX_MIN_SWEEPS && !settled; sweep++) settled = fillInTurn(view);
  findParts(view, NONE);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!limited[dimension]) continue;
    const share = view.share[dimension];
    liftParts(view, dimension, share);
    addHeadroom(view, dimension, share);
  }
}

function setFloors(view: LaneView): void {
  const weights = sum(view.weight, view.count);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const target = view.target[dimension];
    even[dimension] = target / weights;
    floor[dimension] = (view.floorRatio * target) / weights;
  }
}

/**
 * Makes one sweep. Returns true if another sweep would change nothing that matters. Where one dimension binds alone,
 * there is no second sweep.
 */
function fillInTurn(view: LaneView): boolean {
  let binding = 0;
  let settled = true;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!limited[dimension]) continue;
    const before = waterLevel[dimension];
    fill(view, dimension);
    const after = waterLevel[dimension];
    if (after === Infinity) continue;
    binding++;
    if (!(Math.abs(after - before) <= SETTLED_RATIO * after)) settled = false;
  }
  return settled || binding < 2;
}

/** Finds the water level of a dimension anew, from its last one. */
function fill(view: LaneView, dimension: number): void {
  findParts(view, dimension);
  liftParts(view, dimension, asked);
  if (sum(asked, view.count) <= view.target[dimension]) {
    waterLevel[dimension] = Infinity;
    return;
  }
  if (waterLevel[dimension] === Infinity) waterLevel[dimension] = even[dimension];
  findWaterLevel(asked, view.weight, view.count, view.target, waterLevel, dimension);
}

/**
 * Finds the usable part of each demand by the other dimensions alone. Water levels count here, not the given amounts:
 * the left-out dimension may have made a given amount small, and the node would stay locked at it.
 */
function findParts(view: LaneView, except: number): void {
  const { weight, count } = view;
  let isFirst = true;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const here = waterLevel[dimension];
    if (dimension === except || here === Infinity) continue;
    const demand = view.demand[dimension];
    if (isFirst) {
      for (let at = 0; at < count; at++) part[at] = partOf(weight[at] * here, demand[at]);
    } else {
      for (let at = 0; at < count; at++) {
        part[at] = smaller(part[at], partOf(weight[at] * here, demand[at]));
      }
    }
    isFirst = false;
  }
  if (isFirst) part.fill(1, 0, count);
}

/** Computes the met part of a demand, 0 … 1. */
function partOf(offered: number, demand: number): number {
  const most = larger(offered, demand);
  return most > 0 ? offered / most : 1;
}

/** Computes outᵢ = max(floorᵢ, partᵢ · demandᵢ). */
function liftParts(view: LaneView, dimension: number, out: Float64Array): void {
  const { weight, count } = view;
  const demand = view.demand[dimension];
  const perWeight = floor[dimension];
  for (let at = 0; at < count; at++) {
    out[at] = larger(perWeight * weight[at], part[at] * demand[at]);
  }
}

function reserveScratch(count: number): void {
  if (part.length >= count) return;
  part = new Float64Array(Math.max(64, count * 2));
  asked = new Float64Array(Math.max(64, count * 2));
}
