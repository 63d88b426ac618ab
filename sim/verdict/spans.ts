/** Admissions and the quota's grants, by bin. */
interface Bins {
  readonly admitted: Float64Array;
  /** Infinity = no quota. */
  readonly granted: Float64Array;
}

/** Returns the most of admitted ÷ granted in any `length` bins. A span grants one unit at least. */
export function worstSpan(bins: Bins, length: number): number {
  let worst = 0;
  for (const ratio of ratiosOf(bins, length)) if (ratio > worst) worst = ratio;
  return worst;
}

/** Counts spans that admitted above `bound` × their grant; one begins every `step` bins. */
export function spansAbove(bins: Bins, length: number, step: number, bound: number): number {
  const ratios = ratiosOf(bins, length);
  let count = 0;
  for (let start = 0; start < ratios.length; start += step) if (ratios[start] > bound) count++;
  return count;
}

/** Returns admitted ÷ granted of each span; 0 = unlimited for a part of it. */
function ratiosOf({ admitted, granted }: Bins, length: number): Float64Array {
  const ratios = new Float64Array(Math.max(0, admitted.length - length + 1));
  let inside = 0;
  let due = 0;
  let unlimited = 0;
  for (let end = 0; end < admitted.length; end++) {
    inside += admitted[end];
    if (granted[end] === Infinity) unlimited++;
    else due += granted[end];
    const start = end - length + 1;
    if (start < 0) continue;
    ratios[start] = unlimited > 0 ? 0 : inside / Math.max(due, 1);
    inside -= admitted[start];
    if (granted[start] === Infinity) unlimited--;
    else due -= granted[start];
  }
  return ratios;
}

/**
 * Measures overshoot by a bucket that refuses nothing.
 *
 *     tokens ← min(burst, tokens + quota · dt) − admitted          overshoot = max(0, −fewest tokens)
 */
export class ReferenceBucket {
  overshoot = 0;
  #perMs: number;
  #burst: number;
  #tokens: number;
  #atMs = 0;

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = this.#perMs * BURST_MS;
    this.#tokens = this.#burst;
  }

  setQuota(perSecond: number, nowMs: number): void {
    const wasUnlimited = this.#perMs === Infinity;
    this.#refill(nowMs);
    this.#perMs = perSecond / 1000;
    this.#burst = this.#perMs * BURST_MS;
    this.#tokens = wasUnlimited ? this.#burst : Math.min(this.#tokens, this.#burst);
  }

  take(amount: number, nowMs: number): void {
    if (this.#perMs === Infinity) return;
    this.#refill(nowMs);
    this.#tokens -= amount;
    if (-this.#tokens > this.overshoot) this.overshoot = -this.#tokens;
  }

  #refill(nowMs: number): void {
    if (this.#perMs !== Infinity) {
      this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    }
    this.#atMs = nowMs;
  }
}

const BURST_MS = 100;
