import { invariant } from '../invariant.js';

/** Scratch space, grown on demand: which participants have got their final amount. */
let settled = new Uint8Array(64);

/**
 * Weighted water-filling between bounds: out[i] = clamp(weight[i] · L, low[i], high[i]) with the level L chosen so that
 * Σ out = min(capacity, Σ high). This is weighted max-min fairness (peers-and-theory 4.1) with amounts already given
 * (low).
 *
 * Requires 0 ≤ low ≤ high, weight > 0 and Σ low ≤ capacity (up to rounding).
 * Worked: capacity 100, low 0, high 70/70, weight 1/1 → 50/50. High 10/80/80 → 10/45/45. High 20/30 → 20/30 (50 left
 * over).
 *
 * Fixes participants on the side that violates more until none does (Bitran and Hax 1981): exact, no sorting, at most
 * `count` passes and usually 3 to 6. Rejected: bisection on L (inexact, 60 passes), sorting breakpoints (n log n
 * always).
 *
 * Returns L; Infinity when everybody got `high`.
 */
export function waterFill(
  low: Float64Array,
  high: Float64Array,
  weight: Float64Array,
  count: number,
  capacity: number,
  out: Float64Array,
): number {
  if (settled.length < count) settled = new Uint8Array(count * 2);
  settled.fill(0, 0, count);
  let remaining = capacity;
  let active = count;
  let level = 0;
  let allHigh = true;
  while (active > 0) {
    let activeWeight = 0;
    for (let at = 0; at < count; at++) if (settled[at] === 0) activeWeight += weight[at] as number;
    level = remaining > 0 ? remaining / activeWeight : 0;
    let tooHigh = 0;
    let tooLow = 0;
    for (let at = 0; at < count; at++) {
      if (settled[at] === 1) continue;
      const wanted = (weight[at] as number) * level;
      if (wanted > (high[at] as number)) tooHigh += wanted - (high[at] as number);
      else if (wanted < (low[at] as number)) tooLow += (low[at] as number) - wanted;
    }
    const fixHigh = tooHigh >= tooLow;
    const fixLow = tooLow >= tooHigh;
    for (let at = 0; at < count; at++) {
      if (settled[at] === 1) continue;
      const wanted = (weight[at] as number) * level;
      const clampedHigh = wanted > (high[at] as number);
      const clampedLow = wanted < (low[at] as number);
      if (clampedHigh && fixHigh) out[at] = high[at] as number;
      else if (clampedLow && fixLow) out[at] = low[at] as number;
      else if (tooHigh === tooLow) out[at] = wanted;
      else continue;
      if (out[at] !== high[at]) allHigh = false;
      settled[at] = 1;
      active--;
      remaining -= out[at] as number;
    }
  }
  invariant(remaining > -1e-6 * (capacity + 1), 'water-filling gave more than there is', { capacity, remaining });
  return allHigh ? Number.POSITIVE_INFINITY : level;
}
