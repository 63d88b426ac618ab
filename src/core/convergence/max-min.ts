import { DIMENSION_COUNT } from '../vocabulary.js';
import { floorPerWeight } from './floors.js';
import { addHeadroom } from './headroom.js';
import { needsConvergence, type Round, type Strategy } from './strategy.js';
import { fillTo, larger, smaller } from './water-fill.js';

/**
 * Weighted max-min fairness over *demand*, all dimensions jointly (ours; peers-and-theory 4.1).
 *
 *     floors first:  floorᵢ = floorRatio · target · wᵢ/Σw
 *     then fill:     shareᵢ = clamp(wᵢ · L, floorᵢ, demandᵢ),  L so that Σ shares = min(target, Σ demand)
 *     jointly:       a node asks a dimension only for the part of its demand that the levels of the others let it use;
 *                    fill again with that, ≤ 8 passes; then everybody gets the part that its tightest dimension allows
 *     left over:     headroom by weight (the group's `headroom`), so that a waking node does not start from 0
 *
 * Worked (floorRatio 0): target 100, demand 70/70 → 50/50. Demand 10/80/80 → 10/45/45. Demand 20/30 → 45/55: 50 left
 * over, 25 each. Nobody wants anything → target · wᵢ/Σw.
 * Worked jointly: messages 100, bytes 1,000; A wants 100 and 2,000, B wants 100 and 100. Apart, A gets 50 and 900 and
 * can use 45 %, B gets 50 and 100 and can use 50 %: 5 messages and 50 bytes lie idle. Jointly A has 47.37 % and
 * B 52.63 %: nothing does.
 *
 * Silent cases, our choice: a node with no demand keeps its floor; a blocked dimension (target 0) stops a node in the
 * others too where it wants the blocked one.
 */
export const maxMin: Strategy = { name: 'max-min', remembers: false, reads: 'demand', overshoots: false, converge };

const PASSES = 8;
/** Passes end when no level moves by more than this part of itself: a thousandth of a percent of a share. */
const SETTLED_RATIO = 1e-5;

/** Scratch, reused for every lane: nothing is allocated per round in the steady state. */
const limited: boolean[] = [];
const level = new Float64Array(DIMENSION_COUNT);
/** Whether the level of a dimension moved in the last pass: the others then have to be filled anew. */
const moved: boolean[] = [];
/** Whether what is asked of a dimension is not what it was filled with. */
const stale: boolean[] = [];
let low: Float64Array[] = [];
let asked: Float64Array[] = [];
let usable = new Float64Array(0);

function converge(round: Round): void {
  let limitedCount = 0;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    limited[dimension] = needsConvergence(round, dimension);
    level[dimension] = round.target[dimension] === 0 ? 0 : Number.POSITIVE_INFINITY;
    moved[dimension] = true;
    if (limited[dimension]) limitedCount++;
  }
  if (limitedCount === 0) return;
  reserveScratch(round.count);
  setFloors(round);
  const passes = limitedCount === 1 && !isAnyBlocked() ? 1 : PASSES;
  let settled = false;
  for (let pass = 0; pass < passes && !settled; pass++) settled = fillOnce(round);
  useTightest(round);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (limited[dimension]) addHeadroom(round, dimension, low[dimension] as Float64Array);
  }
}

function isAnyBlocked(): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) if (level[dimension] === 0) return true;
  return false;
}

function setFloors(round: Round): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!limited[dimension]) continue;
    const perWeight = floorPerWeight(round, dimension);
    const floors = low[dimension] as Float64Array;
    for (let at = 0; at < round.count; at++) floors[at] = perWeight * (round.weight[at] as number);
  }
}

/**
 * Fills every limited dimension once with what the levels of the previous pass let each node use; true if no level
 * moved by more than settles it. Where no other level moved at all the fill would only repeat itself: left out.
 */
function fillOnce(round: Round): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (limited[dimension] && hasOtherMoved(dimension)) ask(round, dimension);
    else stale[dimension] = false;
  }
  let settled = true;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const before = level[dimension] as number;
    moved[dimension] = false;
    if (!stale[dimension]) continue;
    fill(round, dimension);
    const after = level[dimension] as number;
    moved[dimension] = after !== before;
    if (after !== before && !(Math.abs(after - before) <= SETTLED_RATIO * after)) settled = false;
  }
  return settled;
}

function hasOtherMoved(dimension: number): boolean {
  for (let other = 0; other < DIMENSION_COUNT; other++) if (other !== dimension && moved[other]) return true;
  return false;
}

function fill(round: Round, dimension: number): void {
  fillTo(
    low[dimension] as Float64Array,
    asked[dimension] as Float64Array,
    round.weight,
    round.count,
    round.target,
    level,
    dimension,
    round.share[dimension] as Float64Array,
  );
}

/**
 * askedᵢ = demandᵢ · the part that the other dimensions would let node i use *at their level*. Their level, not what
 * they gave: a node that asked little because of this dimension would otherwise be given little there, and stay locked
 * low.
 */
function ask(round: Round, dimension: number): void {
  stale[dimension] = true;
  const wanted = asked[dimension] as Float64Array;
  wanted.fill(1, 0, round.count);
  for (let other = 0; other < DIMENSION_COUNT; other++) {
    if (other === dimension || level[other] === Number.POSITIVE_INFINITY) continue;
    const levelThere = level[other] as number;
    const demand = round.demand[other] as Float64Array;
    for (let at = 0; at < round.count; at++) {
      const offered = (round.weight[at] as number) * levelThere;
      wanted[at] = smaller(wanted[at] as number, partOf(offered, demand[at] as number));
    }
  }
  raise(low[dimension] as Float64Array, wanted, round.demand[dimension] as Float64Array, round.count, wanted);
}

/** Raises `low` from the floor to what the node can use given all dimensions. */
function useTightest(round: Round): void {
  usable.fill(1, 0, round.count);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (round.target[dimension] === Number.POSITIVE_INFINITY) continue;
    const demand = round.demand[dimension] as Float64Array;
    const share = round.share[dimension] as Float64Array;
    for (let at = 0; at < round.count; at++) {
      usable[at] = smaller(usable[at] as number, partOf(share[at] as number, demand[at] as number));
    }
  }
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const floors = low[dimension] as Float64Array;
    if (limited[dimension]) raise(floors, usable, round.demand[dimension] as Float64Array, round.count, floors);
  }
}

/** The part of a demand that an offer meets, 0 … 1. */
function partOf(offered: number, demand: number): number {
  const most = larger(offered, demand);
  return most > 0 ? offered / most : 1;
}

/** outᵢ = max(lowestᵢ, partᵢ · demandᵢ) */
function raise(lowest: Float64Array, part: Float64Array, demand: Float64Array, count: number, out: Float64Array): void {
  for (let at = 0; at < count; at++) {
    out[at] = larger(lowest[at] as number, (part[at] as number) * (demand[at] as number));
  }
}

function reserveScratch(count: number): void {
  if ((low[0]?.length ?? 0) < count) createScratch(Math.max(64, count * 2));
}

/** Apart from the question whether it is needed: a function with a closure allocates 40 bytes for it in every call. */
function createScratch(length: number): void {
  const columns = () => Array.from({ length: DIMENSION_COUNT }, () => new Float64Array(length));
  low = columns();
  asked = columns();
  usable = new Float64Array(length);
}
