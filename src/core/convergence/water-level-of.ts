import { findWaterLevel } from './water-level.js';

/**
 * The one limit L that all who want something get alike, so that Σ min(demand, L) = capacity: max-min with equal
 * weights, for whoever cannot be given limits of their own (the brokers of a Kafka, src/core/beside/kafka-quotas).
 *
 * Worked: capacity 500, demands 800 and 100 → 400: 400 + 100. Demands 800 and 800 → 250. Demands ∞, ∞ and 100, where
 * nobody knows how much the first two want → 200. Demands 300 and 100 → Infinity: there is enough for all.
 *
 * Never below capacity ÷ count, never above the capacity, but for Infinity. A demand may be Infinity.
 */
export function waterLevelOf(demands: readonly number[], capacity: number): number {
  // To want twice the capacity or any more is the same.
  const high = Float64Array.from(demands, (demand) => Math.min(demand, 2 * capacity));
  const wanted = high.reduce((sum, each) => sum + each, 0);
  if (capacity > 0 && wanted <= capacity) return Infinity;
  if (capacity <= 0) return 0;
  const waterLevels = Float64Array.of(capacity / high.length);
  findWaterLevel(high, new Float64Array(high.length).fill(1), high.length, Float64Array.of(capacity), waterLevels, 0);
  return waterLevels[0];
}
