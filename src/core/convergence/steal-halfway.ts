import { DIMENSION_COUNT } from '../base/vocabulary.js';
import { liftToFloors } from './floors.js';
import { addHeadroom } from './headroom.js';
import { rank } from './ranking.js';
import { type LaneView, needsConvergence, type Strategy } from './strategy.js';
import { usedBy, wantedBy } from './wanted.js';
import { waterFill } from './water-fill.js';

/**
 * Lets saturated nodes steal half of the gap from the dominant.
 *
 *     usedᵢ = min(wantedᵢ, applied shareᵢ);  saturated: wantedᵢ > usedᵢ;  levelᵢ = usedᵢ/wᵢ
 *     steal:  the k-th lowest saturated node takes half the gap from the k-th most dominant node, which loses it:
 *             h = min((levelₖ' − levelₖ) / (1/wₖ + 1/wₖ'), wantedₖ − usedₖ), as long as there is a gap
 *     above:  Σ used > target → the most dominant are levelled down
 *     rest:   Σ used < target → the saturated are raised, the lowest first, up to what they want
 *     then:   floors, and what is left over as headroom
 *
 * PIP-82, "steal quota from the other brokers", for N nodes at once. It rests where max-min does: nobody who wants more
 * stands below anybody. Nodes report while shares move.
 *
 * *When:* you want the fair end, but nobody to lose more than half of its lead at once (PIP-82)
 *
 * *Worked:* target 100, used 80/20, the second saturated → 20 + (80 − 20)/2 = 50, and 50 for the other. Used
 * 60/25/10/5, the last two saturated → 32.5/17.5/17.5/32.5. Used 80/30 of limits 80/50 → 70/30. One of four has all,
 * all want 100: 100/0/0/0 → 50/16.7/16.7/16.7 → 33.3/22.2/22.2/22.2 → 27.8/24.1/24.1/24.1. One of eight is within 10 %
 * of fair after six.
 *
 * *Why:* only saturated nodes count as "lowest": by the text's letter eight idle nodes of ten would be the lowest of
 * all, and 80/20 among the other two would stay for ever. Nobody takes more than it wants (the text would let a quota
 * lie idle). Nodes that are alike get the mean of their amounts in any order. Rates are compared per weight.
 */
export const stealHalfway: Strategy = {
  name: 'steal-halfway',
  reads: 'demand',
  remembers: true,
  converge,
};

/** Scratch, reused for every lane. */
let used = new Float64Array(64);
let wanted = new Float64Array(64);
let lack = new Float64Array(64);
let perWeight = new Float64Array(64);
let weight: Float64Array = new Float64Array(0);
let order = new Int32Array(64);
let thieves = new Int32Array(64);

function converge(view: LaneView): void {
  reserveScratch(view.count);
  weight = view.weight;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!needsConvergence(view, dimension)) continue;
    for (let at = 0; at < view.count; at++) {
      wanted[at] = wantedBy(view, at, dimension);
      used[at] = usedBy(view, at, dimension, wanted[at]);
      lack[at] = wanted[at] - used[at];
      perWeight[at] = used[at] / weight[at];
      order[at] = at;
    }
    rank(order, view.count, isLower);
    steal(view.count);
    distribute(view, dimension);
  }
}

/** Orders by use per weight, missing amount, weight and index. */
function isLower(left: number, right: number): boolean {
  const difference = compare(left, right);
  return difference !== 0 ? difference < 0 : left < right;
}

function compare(left: number, right: number): number {
  return perWeight[left] - perWeight[right] || lack[left] - lack[right] || weight[left] - weight[right];
}

/**
 * Lets each thief take half of its gap to a dominant node. No node steals and loses at once: as k grows, the thieves'
 * use per weight rises and that of dominant nodes falls, and the loop ends where they meet.
 */
function steal(count: number): void {
  let saturated = 0;
  for (let index = 0; index < count; index++) {
    if (lack[order[index]] > 0) thieves[saturated++] = order[index];
  }
  for (let k = 0; k < saturated; k++) {
    const low = thieves[k];
    const dominant = order[count - 1 - k];
    const gap = perWeight[dominant] - perWeight[low];
    if (gap <= 0) break;
    const half = gap / (1 / weight[low] + 1 / weight[dominant]);
    const taken = Math.min(half, lack[low]);
    used[low] = used[low] + taken;
    used[dominant] = Math.max(0, used[dominant] - taken);
  }
  shareAmongAlike(count);
}

/** Gives nodes that are alike the mean of their amounts. They stand side by side. */
function shareAmongAlike(count: number): void {
  let first = 0;
  for (let index = 1; index <= count; index++) {
    if (index < count && compare(order[first], order[index]) === 0) continue;
    if (index - first > 1) {
      let total = 0;
      for (let at = first; at < index; at++) total += used[order[at]];
      for (let at = first; at < index; at++) used[order[at]] = total / (index - first);
    }
    first = index;
  }
}

/** Levels dominant nodes down, raises saturated ones, and adds the headroom. */
function distribute(view: LaneView, dimension: number): void {
  const { count } = view;
  const target = view.target[dimension];
  let total = 0;
  for (let at = 0; at < count; at++) total += used[at];
  const out = perWeight;
  if (total > target) {
    waterFill(nothing, used, weight, count, target, out);
  } else {
    for (let at = 0; at < count; at++) wanted[at] = Math.max(wanted[at], used[at]);
    waterFill(used, wanted, weight, count, target, out);
  }
  liftToFloors(view, dimension, out);
  addHeadroom(view, dimension, out);
}

let nothing = new Float64Array(64);

function reserveScratch(count: number): void {
  if (used.length >= count) return;
  used = new Float64Array(count * 2);
  wanted = new Float64Array(count * 2);
  lack = new Float64Array(count * 2);
  perWeight = new Float64Array(count * 2);
  nothing = new Float64Array(count * 2);
  order = new Int32Array(count * 2);
  thieves = new Int32Array(count * 2);
}
