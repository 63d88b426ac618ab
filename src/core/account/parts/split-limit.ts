/**
 * Divides a node's limit among its spenders: own requests and enforcers, all of one weight.
 *
 *     wantedᵢ = max(demandᵢ, floorRatio · limit/n)
 *     partᵢ   = min(wantedᵢ, L) with L so that Σ part = limit; where all are met, the rest in equal parts
 *
 * Worked (floorRatio 0): limit 100, demands 10/80/80 → 10/45/45. Demands 20/30 → 45/55: 50 left over, 25 each. Nobody
 * wants anything, three of them → 33.3 each. With floorRatio 0.06, demands 0/200/200 → 2/49/49.
 *
 * Each dimension is divided by itself, unlike in max-min: an unused part of one node lasts for one report at most, and
 * a demand of which the other dimension refuses half shows as half the usage.
 *
 * @param limit units per second; Infinity gives everybody Infinity
 * @param demands units per second, finite; as many as `parts`
 */
export function splitLimit(parts: Float64Array, limit: number, demands: Float64Array, floorRatio: number): void {
  const count = demands.length;
  if (limit === Infinity || limit === 0) {
    parts.fill(limit);
    return;
  }
  const floor = (floorRatio * limit) / count;
  for (let at = 0; at < count; at++) parts[at] = Math.max(floor, demands[at]);
  const level = waterLevel(parts, limit);
  let left = limit;
  for (let at = 0; at < count; at++) {
    parts[at] = Math.min(parts[at], level);
    left -= parts[at];
  }
  if (left <= 0) return;
  for (let at = 0; at < count; at++) parts[at] = parts[at] + left / count;
}

/** Finds L with Σ min(wanted, L) = limit; Infinity where the limit suffices for all. */
function waterLevel(wanted: Float64Array, limit: number): number {
  const sorted = wanted.slice().sort();
  let left = limit;
  for (let at = 0; at < sorted.length; at++) {
    const level = left / (sorted.length - at);
    if (sorted[at] > level) return level;
    left -= sorted[at];
  }
  return Infinity;
}
