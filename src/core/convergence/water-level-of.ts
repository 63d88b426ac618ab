import { findWaterLevel } from './water-level.js';

/**
 * Finds one limit L for all: Σ min(demand, L) = capacity. It is max-min with equal weights, where nobody can have a
 * limit of its own (the brokers of a Kafka, src/core/beside/kafka-quotas). A demand may be Infinity. L lies between
 * capacity ÷ count and the capacity, or is Infinity.
 *
 * *Worked:* capacity 500, demands 800 and 100 → 400: 400 + 100. Demands 800 and 800 → 250. Demands ∞, ∞ and 100, where
 * the first two are not known → 200. Demands 300 and 100 → Infinity: there is enough for all.
 */
export function waterLevelOf(demands: readonly number[], capacity: number): number {
  // All demands from twice the capacity on have the same result.
  const high = Float64Array.from(demands, (demand) => Math.min(demand, 2 * capacity));
  const wanted = high.reduce((sum, each) => sum + each, 0);
  if (capacity > 0 && wanted <= capacity) return Infinity;
  if (capacity <= 0) return 0;
  const waterLevels = Float64Array.of(capacity / high.length);
  findWaterLevel(high, new Float64Array(high.length).fill(1), high.length, Float64Array.of(capacity), waterLevels, 0);
  return waterLevels[0];
}
