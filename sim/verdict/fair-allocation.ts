/**
 * The judge's own max-min: textbook water-filling, written apart from the core that it judges.
 * Weighted, over messages per second and, for pieces of different sizes, bytes per second as well.
 */
export interface FairAllocation {
  /** Messages per second of each node. */
  readonly rates: Float64Array;
  /** What a node of weight 1 may have in each dimension; Infinity where all demand is met. */
  readonly waterLevel: { messages: number; bytes: number };
}

export interface Wanted {
  /** Messages per second. */
  readonly rates: Float64Array;
  /** Bytes per message. */
  readonly sizes: Float64Array;
  readonly weights: Float64Array;
}

export function createAllocation(nodes: number): FairAllocation {
  const waterLevel = { messages: Infinity, bytes: Infinity };
  return { rates: new Float64Array(nodes), waterLevel };
}

/**
 * aᵢ = min(dᵢ, wᵢ · Lₘ, wᵢ · L_b ÷ sizeᵢ), with the highest water levels that keep Σ a within both quotas. One
 * dimension is filled, then the other with what the first leaves to each, then the first again with what the second
 * does not let through: some passes, until nothing is left to hand back.
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

/** Messages per second that a node may have at the most. */
export function dueOf({ waterLevel }: FairAllocation, { sizes, weights }: Wanted, at: number): number {
  return Math.min(waterLevel.messages * weights[at], limitBy(waterLevel.bytes * weights[at], sizes[at]));
}

/**
 * L with Σ min(dᵢ, wᵢ · L) = capacity; Infinity when Σ d fits.
 * Worked: capacity 1,000, demands 2,000 and 9 × 80 → the nine take 720, L = 280.
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
