import { invariant } from '../base/invariant.js';
import { larger, smaller } from './smaller-larger.js';

/**
 * Fills by weight between bounds: out[i] = clamp(weight[i] · L, low[i], high[i]), with the water level L so that Σ out
 * = min(capacity, Σ high). Requires 0 ≤ low ≤ high, weight > 0 and Σ low ≤ capacity (up to rounding). Returns L;
 * Infinity = everybody got `high`.
 *
 * *Worked:* capacity 100, low 0, high 70/70, weight 1/1 → 50/50. High 10/80/80 → 10/45/45. High 20/30 → 20/30 (50 left
 * over).
 *
 * *Why:* it is weighted max-min fairness (docs/background/max-min-fairness.md) with amounts already given (low).
 * max-min has no lower bounds and uses water-level.ts. Participants are fixed on the side that violates more until none
 * does (Bitran and Hax 1981): exact, no sorting, usually 3 to 6 passes. Too low water levels only rise and too high
 * ones only fall, so two of them name the fixed participants (`weight · below > high`, `weight · above < low`). A pass
 * is one scan without a branch on its data, which would double the time. The plain twin is
 * test/property/plain-max-min.ts. Rejected: bisection on L (inexact, 60 passes), sorting breakpoints (n log n always).
 */
export function waterFill(
  low: Float64Array,
  high: Float64Array,
  weight: Float64Array,
  count: number,
  capacity: number,
  out: Float64Array,
): number {
  let wanted = 0;
  for (let at = 0; at < count; at++) wanted += high[at];
  if (wanted <= capacity) {
    for (let at = 0; at < count; at++) out[at] = high[at];
    return Infinity;
  }
  const waterLevel = findWaterLevel(low, high, weight, count, capacity);
  let given = 0;
  for (let at = 0; at < count; at++) {
    const amount = smaller(larger(weight[at] * waterLevel, low[at]), high[at]);
    out[at] = amount;
    given += amount;
  }
  if (!(given <= capacity + 1e-6 * (capacity + 1))) {
    invariant(false, 'water-filling gave more than there is', { capacity, given });
  }
  return waterLevel;
}

/** Sums of a scan: amounts held high and low, each with its weights, and the free weight. */
const scanned = new Float64Array(5);

/** Finds the L of Σ out = capacity; it exists, because Σ high > capacity. */
function findWaterLevel(
  low: Float64Array,
  high: Float64Array,
  weight: Float64Array,
  count: number,
  capacity: number,
): number {
  let waterLevel = capacity / count;
  // Amounts and weights of the participants that are fixed for good.
  let heldHigh = 0;
  let weightHigh = 0;
  let heldLow = 0;
  let weightLow = 0;
  for (let pass = 0; pass <= 2 * count + 2; pass++) {
    scan(low, high, weight, count, waterLevel);
    const tooHigh = scanned[0];
    const tooHighWeight = scanned[1];
    const tooLow = scanned[2];
    const tooLowWeight = scanned[3];
    const free = scanned[4];
    if (pass > 0 && tooHighWeight === weightHigh && tooLowWeight === weightLow) break;
    const given = tooHigh + tooLow + waterLevel * free;
    if (given <= capacity) {
      heldHigh = tooHigh;
      weightHigh = tooHighWeight;
    }
    if (given >= capacity) {
      heldLow = tooLow;
      weightLow = tooLowWeight;
    }
    const rest = tooHighWeight + tooLowWeight + free - weightHigh - weightLow;
    if (rest <= 0) break;
    waterLevel = larger(0, (capacity - heldHigh - heldLow) / rest);
  }
  return waterLevel;
}

function scan(low: Float64Array, high: Float64Array, weight: Float64Array, count: number, waterLevel: number): void {
  let tooHigh = 0;
  let tooHighWeight = 0;
  let tooLow = 0;
  let tooLowWeight = 0;
  let free = 0;
  for (let at = 0; at < count; at++) {
    const each = weight[at];
    const above = Number(each * waterLevel > high[at]);
    const below = Number(each * waterLevel < low[at]);
    tooHigh += above * high[at];
    tooHighWeight += above * each;
    tooLow += below * low[at];
    tooLowWeight += below * each;
    free += (1 - above - below) * each;
  }
  scanned[0] = tooHigh;
  scanned[1] = tooHighWeight;
  scanned[2] = tooLow;
  scanned[3] = tooLowWeight;
  scanned[4] = free;
}
