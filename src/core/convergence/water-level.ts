/**
 * Finds the water level of max-min between 0 and `high`: L so that Σ min(wᵢ · L, highᵢ) = capacity. Requires weight > 0
 * and Σ high > capacity.
 *
 * *Worked:* capacity 100, high 10/80/80, weight 1/1/1. From L = 33.3 only the first is met: (100 − 10) / 2 = 45.
 *
 * *Why:* max-min needs no lower bounds as in `waterFill`: floors are the same part of every weight, so they lie below
 * L. Newton's steps are exact from any start. Σ is concave in L: a step from anywhere ends at or below the solution,
 * further ones only rise, and each meets more nodes; when it meets no more, L is exact. Mostly 3 to 5 scans.
 *
 * Capacity and water level stand in columns, at `row`: a fraction that is passed or returned is an object until the
 * call is inlined. The search starts from the water level found there: > 0, and not so high that it would meet
 * everybody.
 */
export function findWaterLevel(
  high: Float64Array,
  weight: Float64Array,
  count: number,
  capacities: Float64Array,
  waterLevels: Float64Array,
  row: number,
): void {
  const capacity = capacities[row];
  let before = -1;
  for (let pass = 0; pass <= count + 1; pass++) {
    scan(high, weight, count, waterLevels, row);
    const wanting = scanned[1];
    if (wanting === before || wanting === 0) return;
    waterLevels[row] = (capacity - scanned[0]) / wanting;
    before = wanting;
  }
}

/** Sums of a scan: `high` of the nodes that its water level meets, and the weight of the others. */
const scanned = new Float64Array(2);

/** Scans without a branch on data: a branch would double the time. */
function scan(high: Float64Array, weight: Float64Array, count: number, waterLevels: Float64Array, row: number): void {
  const waterLevel = waterLevels[row];
  let met = 0;
  let wanting = 0;
  for (let at = 0; at < count; at++) {
    const each = weight[at];
    const isMet = Number(each * waterLevel > high[at]);
    met += isMet * high[at];
    wanting += (1 - isMet) * each;
  }
  scanned[0] = met;
  scanned[1] = wanting;
}
