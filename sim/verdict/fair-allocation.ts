/**
 * The judge's own max-min: textbook water-filling, written apart from the core that it judges.
 * Weighted, over messages per second and, for pieces of different sizes, bytes per second as well.
 */
export interface FairAllocation {
  /** Messages per second of each node. */
  readonly rates: Float64Array;
  /** What a node of weight 1 may have in each dimension; Infinity where all demand is met. */
  readonly level: { messages: number; bytes: number };
}

export interface Wanted {
  /** Messages per second. */
  readonly rates: Float64Array;
  /** Bytes per message. */
  readonly sizes: Float64Array;
  readonly weights: Float64Array;
}

export function createAllocation(nodes: number): FairAllocation {
  const level = { messages: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  return { rates: new Float64Array(nodes), level };
}

/**
 * aᵢ = min(dᵢ, wᵢ · Lₘ, wᵢ · L_b ÷ sizeᵢ), with the highest levels that keep Σ a within both quotas. One dimension is
 * filled, then the other with what the first leaves to each, then the first again with what the second does not let
 * through: some passes, until nothing is left to hand back.
 */
export function allocateFairly(wanted: Wanted, quota: readonly [number, number], out: FairAllocation): void {
  const { rates, sizes, weights } = wanted;
  const { level } = out;
  level.bytes = Number.POSITIVE_INFINITY;
  const caps = new Float64Array(rates.length);
  const byteCaps = new Float64Array(rates.length);
  for (let pass = 0; pass < PASSES; pass++) {
    for (let at = 0; at < caps.length; at++)
      caps[at] = Math.min(rates[at]!, limitBy(level.bytes * weights[at]!, sizes[at]!));
    level.messages = waterLevel(caps, weights, quota[0]);
    for (let at = 0; at < caps.length; at++) {
      byteCaps[at] = Math.min(rates[at]!, level.messages * weights[at]!) * sizes[at]!;
    }
    const before = level.bytes;
    level.bytes = waterLevel(byteCaps, weights, quota[1]);
    if (level.bytes === before) break;
  }
  for (let at = 0; at < rates.length; at++) out.rates[at] = Math.min(rates[at]!, dueOf(out, wanted, at));
}

/** Messages per second that a node may have at the most. */
export function dueOf({ level }: FairAllocation, { sizes, weights }: Wanted, at: number): number {
  return Math.min(level.messages * weights[at]!, limitBy(level.bytes * weights[at]!, sizes[at]!));
}

/**
 * L with Σ min(dᵢ, wᵢ · L) = capacity; Infinity when Σ d fits.
 * Worked: capacity 1,000, demands 2,000 and 9 × 80 → the nine take 720, L = 280.
 */
export function waterLevel(demands: Float64Array, weights: Float64Array, capacity: number): number {
  let left = capacity;
  let weightLeft = 0;
  for (let at = 0; at < demands.length; at++) if (demands[at]! > 0) weightLeft += weights[at]!;
  const order = Array.from(demands.keys()).filter((at) => demands[at]! > 0);
  order.sort((one, other) => demands[one]! / weights[one]! - demands[other]! / weights[other]!);
  for (const at of order) {
    const level = left / weightLeft;
    if (demands[at]! > level * weights[at]!) return level;
    left -= demands[at]!;
    weightLeft -= weights[at]!;
  }
  return Number.POSITIVE_INFINITY;
}

const PASSES = 8;

function limitBy(bytesPerSecond: number, size: number): number {
  return size === 0 ? Number.POSITIVE_INFINITY : bytesPerSecond / size;
}
