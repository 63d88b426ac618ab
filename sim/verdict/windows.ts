/** Columns of what was admitted and what the quota granted, bin by bin. */
export interface Bins {
  readonly admitted: Float64Array;
  /** Infinity where there is no quota. */
  readonly granted: Float64Array;
}

/**
 * Most that any window of `length` bins admitted ÷ what it was granted. What the quota granted counts as one unit at
 * least: under a quota of 0 a ratio would say nothing.
 */
export function worstWindow(bins: Bins, length: number): number {
  let worst = 0;
  eachWindow(bins, length, 1, (ratio) => {
    if (ratio > worst) worst = ratio;
  });
  return worst;
}

/** Windows, one every `step` bins, that admitted more than `bound` × what they were granted. */
export function windowsAbove(bins: Bins, length: number, step: number, bound: number): number {
  let count = 0;
  eachWindow(bins, length, step, (ratio) => {
    if (ratio > bound) count++;
  });
  return count;
}

function eachWindow({ admitted, granted }: Bins, length: number, step: number, see: (ratio: number) => void): void {
  let inside = 0;
  let due = 0;
  let unlimited = 0;
  for (let end = 0; end < admitted.length; end++) {
    inside += admitted[end]!;
    if (granted[end] === Number.POSITIVE_INFINITY) unlimited++;
    else due += granted[end]!;
    const gone = end - length;
    if (gone >= 0) {
      inside -= admitted[gone]!;
      if (granted[gone] === Number.POSITIVE_INFINITY) unlimited--;
      else due -= granted[gone]!;
    }
    const start = gone + 1;
    if (start >= 0 && start % step === 0) see(unlimited > 0 ? 0 : inside / Math.max(due, 1));
  }
}

/**
 * The bucket that admitted work is held against: it refuses nothing, so its level may fall below 0, and how far it fell
 * is the overshoot.
 *
 *     level ← min(burst, level + quota · dt) − admitted          overshoot = max(0, −least level)
 */
export class ReferenceBucket {
  overshoot = 0;
  #perMs: number;
  #burst: number;
  #level: number;
  #atMs = 0;

  /** Full at time 0. */
  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = this.#perMs * BURST_MS;
    this.#level = this.#burst;
  }

  setQuota(perSecond: number, nowMs: number): void {
    const wasUnlimited = this.#perMs === Number.POSITIVE_INFINITY;
    this.#refill(nowMs);
    this.#perMs = perSecond / 1000;
    this.#burst = this.#perMs * BURST_MS;
    this.#level = wasUnlimited ? this.#burst : Math.min(this.#level, this.#burst);
  }

  take(amount: number, nowMs: number): void {
    if (this.#perMs === Number.POSITIVE_INFINITY) return;
    this.#refill(nowMs);
    this.#level -= amount;
    if (-this.#level > this.overshoot) this.overshoot = -this.#level;
  }

  #refill(nowMs: number): void {
    if (this.#perMs !== Number.POSITIVE_INFINITY) {
      this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs);
    }
    this.#atMs = nowMs;
  }
}

const BURST_MS = 100;
