import type { Verdict } from '../verdict/run-result.js';

/** Verdict on a trace, which has no rates: no steps, no fair shares. */
export type TraceVerdict = Pick<
  Verdict,
  'overAdmission' | 'worstSecond' | 'secondsOver' | 'overshootTokens' | 'utilisation' | 'records' | 'bytes'
>;

/** Milliseconds of a slice, as of a scenario. */
const SLICE_MS = 10;
const SECOND_SLICES = 1000 / SLICE_MS;
const FIVE_SLICES = 5 * SECOND_SLICES;
/** Slices between looks: 100 ms. */
const LOOK_SLICES = 10;
const OVER = 1.01;
const BURST_SECONDS = 0.1;

/**
 * Judges one quota in constant memory: slices, a reference bucket, sums. Unlimited dimensions are not judged; with none
 * limited, messages tell the admitted part.
 */
export class RunningVerdict {
  readonly judged: readonly DimensionVerdict[];
  readonly #quota: readonly [number, number];
  readonly #spanSlices: number;
  /** Demand of the current span. */
  readonly #wanted: [number, number] = [0, 0];
  #slice = 0;

  constructor(quota: readonly [number, number], fillSeconds = 1) {
    this.#quota = quota;
    this.#spanSlices = Math.max(1, Math.ceil(fillSeconds)) * SECOND_SLICES;
    const limited = ([0, 1] as const).filter((dimension) => quota[dimension] !== Infinity);
    const judged = limited.length > 0 ? limited : ([0] as const);
    this.judged = judged.map((dimension) => new DimensionVerdict(dimension, quota[dimension]));
  }

  /** Counts an attempt; times rise. */
  want(nowMs: number, messages: number, bytes: number): void {
    this.#advance(nowMs);
    this.#wanted[0] += messages;
    this.#wanted[1] += bytes;
  }

  admit(nowMs: number, messages: number, bytes: number): void {
    this.#advance(nowMs);
    for (const verdict of this.judged) verdict.admit(nowMs, verdict.dimension === 0 ? messages : bytes);
  }

  /** Ends; a last second counts as long as it is, a first one, or longer span, as whole, as its bucket was full. */
  end(endMs: number): void {
    this.#advance(endMs);
    for (const dimension of this.judged) dimension.endSlices(1);
    const isWhole = this.#slice < SECOND_SLICES || this.#spanSlices > SECOND_SLICES;
    this.#endSpan(isWhole ? this.#spanSlices : (this.#slice % SECOND_SLICES) + 1);
  }

  #advance(nowMs: number): void {
    const slice = Math.floor(nowMs / SLICE_MS);
    if (slice <= this.#slice) return;
    for (const dimension of this.judged) dimension.endSlices(slice - this.#slice);
    // Nothing was wanted in spans between.
    if (Math.floor(slice / this.#spanSlices) > Math.floor(this.#slice / this.#spanSlices))
      this.#endSpan(this.#spanSlices);
    this.#slice = slice;
  }

  /** Ends a span; both quotas let the same part of work through. */
  #endSpan(slices: number): void {
    const seconds = slices / SECOND_SLICES;
    const [messages, bytes] = this.#wanted;
    const part = Math.min(1, ratio(this.#quota[0] * seconds, messages), ratio(this.#quota[1] * seconds, bytes));
    for (const verdict of this.judged) verdict.possible += part * this.#wanted[verdict.dimension];
    this.#wanted.fill(0);
  }
}

/**
 * Joins verdicts: worst spans of any quota, use of all. Requests of unlike size may exceed their part in one dimension:
 * the worse one tells use.
 */
export function traceVerdict(quotas: readonly RunningVerdict[]): Omit<TraceVerdict, 'records' | 'bytes'> {
  const all = quotas.flatMap(({ judged }) => judged);
  const worst = (read: (dimension: DimensionVerdict) => number) => {
    return all.reduce((most, dimension) => Math.max(most, read(dimension)), 0);
  };
  const used = ([0, 1] as const).map((dimension) => usedOf(all.filter((verdict) => verdict.dimension === dimension)));
  return {
    overAdmission: Math.max(0, worst(({ worstFive }) => worstFive) - 1),
    worstSecond: worst(({ worstSecond }) => worstSecond),
    secondsOver: (worst(({ looksOver }) => looksOver) * LOOK_SLICES) / SECOND_SLICES,
    overshootTokens: worst(({ overshoot }) => overshoot),
    utilisation: Math.min(...used.filter((part) => part !== null)),
  };
}

/** Returns use; 1 = nothing was possible, null = unjudged. */
function usedOf(verdicts: readonly DimensionVerdict[]): number | null {
  if (verdicts.length === 0) return null;
  const possible = verdicts.reduce((total, verdict) => total + verdict.possible, 0);
  return possible === 0 ? 1 : verdicts.reduce((total, { admitted }) => total + admitted, 0) / possible;
}

class DimensionVerdict {
  worstSecond = 0;
  worstFive = 0;
  looksOver = 0;
  overshoot = 0;
  admitted = 0;
  /** Possible by both quotas, over spans. */
  possible = 0;
  readonly dimension: 0 | 1;
  readonly #quota: number;
  readonly #ring = new Float64Array(FIVE_SLICES);
  #at = 0;
  #five = 0;
  #second = 0;
  #tokens: number;
  #tokensAtMs = 0;
  #amount = 0;
  #slices = 0;

  constructor(dimension: 0 | 1, quota: number) {
    this.dimension = dimension;
    this.#quota = quota;
    this.#tokens = quota * BURST_SECONDS;
  }

  admit(nowMs: number, amount: number): void {
    this.admitted += amount;
    this.#amount += amount;
    if (this.#quota === Infinity) return;
    const refilled = this.#tokens + (this.#quota * (nowMs - this.#tokensAtMs)) / 1000;
    this.#tokens = Math.min(this.#quota * BURST_SECONDS, refilled) - amount;
    this.#tokensAtMs = nowMs;
    if (-this.#tokens > this.overshoot) this.overshoot = -this.#tokens;
  }

  endSlices(count: number): void {
    this.#endSlice();
    // After five seconds without anything all spans are empty.
    const empty = Math.min(count - 1, FIVE_SLICES);
    for (let slice = 0; slice < empty; slice++) this.#endSlice();
    this.#slices += count - 1 - empty;
  }

  #endSlice(): void {
    const ring = this.#ring;
    this.#five += this.#amount - ring[this.#at];
    this.#second += this.#amount - ring[(this.#at + FIVE_SLICES - SECOND_SLICES) % FIVE_SLICES];
    ring[this.#at] = this.#amount;
    this.#amount = 0;
    this.#at = (this.#at + 1) % FIVE_SLICES;
    // Sums are renewed once per ring against rounding.
    if (this.#at === 0) {
      this.#five = sum(ring);
      this.#second = sum(ring.subarray(FIVE_SLICES - SECOND_SLICES));
    }
    this.#slices++;
    // At least one unit: under a quota of 0 a ratio says nothing.
    const second = this.#second / Math.max(1, this.#quota);
    this.worstSecond = Math.max(this.worstSecond, second);
    this.worstFive = Math.max(this.worstFive, this.#five / Math.max(1, 5 * this.#quota));
    if (this.#slices % LOOK_SLICES === 0 && second > OVER) this.looksOver++;
  }
}

function ratio(granted: number, wanted: number): number {
  return wanted === 0 ? 1 : granted / wanted;
}

function sum(amounts: Float64Array): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
