/**
 * Computes max-min for the judge, by code apart from the core's: weighted water-filling over messages/s and bytes/s.
 */
export interface FairAllocation {
  readonly rates: Float64Array;
  /** Rate of a node of weight 1 per dimension; Infinity = all demand is met. */
  readonly waterLevel: { messages: number; bytes: number };
}

export interface Wanted {
  readonly rates: Float64Array;
  readonly sizes: Float64Array;
  readonly weights: Float64Array;
}

export function createAllocation(nodes: number): FairAllocation {
  const waterLevel = { messages: Infinity, bytes: Infinity };
  return { rates: new Float64Array(nodes), waterLevel };
}

/**
 * Computes aᵢ = min(dᵢ, wᵢ · Lₘ, wᵢ · L_b ÷ sizeᵢ): by the highest water levels within both quotas. Fills one
 * dimension, then the other with the rest, in passes until nothing is handed back.
 */
export function allocateFairly(wanted: Wanted, quota: readonly [number, number], out: FairAllocation): void {
  const { rates, sizes, weights } = wanted;
  const { waterLevel } = out;
  waterLevel.bytes = Infinity;
  const caps = new Float64Array(rates.length);
  const byteCaps = new Float64Array(rates.length);
  for (let pass = 0; pass < PASSES; pass++) {
    for (let at = 0; at < caps.length; at++)
      caps[at] = Math.min(rates[at], limitBy(waterLevel.bytes * weights[at], sizes[at]));
    waterLevel.messages = findWaterLevel(caps, weights, quota[0]);
    for (let at = 0; at < caps.length; at++) {
      byteCaps[at] = Math.min(rates[at], waterLevel.messages * weights[at]) * sizes[at];
    }
    const before = waterLevel.bytes;
    waterLevel.bytes = findWaterLevel(byteCaps, weights, quota[1]);
    if (waterLevel.bytes === before) break;
  }
  for (let at = 0; at < rates.length; at++) out.rates[at] = Math.min(rates[at], dueOf(out, wanted, at));
}

/** Returns a node's most messages/s. */
export function dueOf({ waterLevel }: FairAllocation, { sizes, weights }: Wanted, at: number): number {
  return Math.min(waterLevel.messages * weights[at], limitBy(waterLevel.bytes * weights[at], sizes[at]));
}

/**
 * Finds L with Σ min(dᵢ, wᵢ · L) = capacity; Infinity when Σ d fits. *Worked:* capacity 1,000, demands 2,000 and 9 × 80
 * → the nine take 720, L = 280.
 */
export function findWaterLevel(demands: Float64Array, weights: Float64Array, capacity: number): number {
  let left = capacity;
  let weightLeft = 0;
  for (let at = 0; at < demands.length; at++) if (demands[at] > 0) weightLeft += weights[at];
  const order = Array.from(demands.keys()).filter((at) => demands[at] > 0);
  order.sort((one, other) => demands[one] / weights[one] - demands[other] / weights[other]);
  for (const at of order) {
    const waterLevel = left / weightLeft;
    if (demands[at] > waterLevel * weights[at]) return waterLevel;
    left -= demands[at];
    weightLeft -= weights[at];
  }
  return Infinity;
}

const PASSES = 8;

function limitBy(bytesPerSecond: number, size: number): number {
  return size === 0 ? Infinity : bytesPerSecond / size;
}
