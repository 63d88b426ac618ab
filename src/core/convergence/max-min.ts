import { DIMENSION_COUNT } from '../vocabulary.js';
import { floorPerWeight } from './floors.js';
import { addHeadroom } from './headroom.js';
import { needsConvergence, type Round, type Strategy } from './strategy.js';
import { waterFill } from './water-fill.js';

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
const level: number[] = [];
let low: Float64Array[] = [];
let asked: Float64Array[] = [];

function converge(round: Round): void {
  let limitedCount = 0;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    limited[dimension] = needsConvergence(round, dimension);
    level[dimension] = round.target[dimension] === 0 ? 0 : Number.POSITIVE_INFINITY;
    if (limited[dimension]) limitedCount++;
  }
  if (limitedCount === 0) return;
  reserveScratch(round.count);
  setFloors(round);
  const passes = limitedCount === 1 && level.every((known) => known > 0) ? 1 : PASSES;
  let moved = true;
  for (let pass = 0; pass < passes && moved; pass++) moved = fillOnce(round);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (limited[dimension]) useTightest(round, dimension);
  }
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (limited[dimension]) addHeadroom(round, dimension, low[dimension] as Float64Array);
  }
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
 * Fills every limited dimension once with what the levels of the previous pass let each node use; true if a level
 * moved.
 */
function fillOnce(round: Round): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (limited[dimension]) ask(round, dimension);
  }
  let moved = false;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!limited[dimension]) continue;
    const before = level[dimension] as number;
    const target = round.target[dimension] as number;
    const out = round.share[dimension] as Float64Array;
    const after = waterFill(
      low[dimension] as Float64Array,
      asked[dimension] as Float64Array,
      round.weight,
      round.count,
      target,
      out,
    );
    level[dimension] = after;
    if (after !== before && !(Math.abs(after - before) <= SETTLED_RATIO * after)) moved = true;
  }
  return moved;
}

/**
 * askedᵢ = demandᵢ · the part that the other dimensions would let node i use *at their level*. Their level, not what
 * they gave: a node that asked little because of this dimension would otherwise be given little there, and stay locked
 * low.
 */
function ask(round: Round, dimension: number): void {
  const target = asked[dimension] as Float64Array;
  for (let at = 0; at < round.count; at++) {
    let usable = 1;
    for (let other = 0; other < DIMENSION_COUNT; other++) {
      if (other === dimension) continue;
      const demand = (round.demand[other] as Float64Array)[at] as number;
      const offered = (round.weight[at] as number) * (level[other] as number);
      if (demand > 0 && offered < demand * usable) usable = offered / demand;
    }
    const wanted = usable * ((round.demand[dimension] as Float64Array)[at] as number);
    target[at] = Math.max(wanted, (low[dimension] as Float64Array)[at] as number);
  }
}

/**
 * Raises `low` from the floor to what the node can use given all dimensions. Reads shares only, so the order is free.
 */
function useTightest(round: Round, dimension: number): void {
  const usableOf = low[dimension] as Float64Array;
  const demandHere = round.demand[dimension] as Float64Array;
  for (let at = 0; at < round.count; at++) {
    let usable = 1;
    for (let other = 0; other < DIMENSION_COUNT; other++) {
      const demand = (round.demand[other] as Float64Array)[at] as number;
      const share = (round.share[other] as Float64Array)[at] as number;
      if (demand > 0 && share < demand * usable) usable = share / demand;
    }
    usableOf[at] = Math.max(usableOf[at] as number, usable * (demandHere[at] as number));
  }
}

function reserveScratch(count: number): void {
  if ((low[0]?.length ?? 0) >= count) return;
  const columns = () => Array.from({ length: DIMENSION_COUNT }, () => new Float64Array(Math.max(64, count * 2)));
  low = columns();
  asked = columns();
}
