import type { Verdict } from '../verdict/run-result.js';

/** What can be told of a trace: it states no rates, so there are no steps to settle after and no fair shares. */
export type TraceVerdict = Pick<
  Verdict,
  'overAdmission' | 'worstSecond' | 'secondsOver' | 'overshootTokens' | 'utilisation' | 'records' | 'bytes'
>;

/** Spans end every 10 ms, as those of a scenario do. */
const SLICE_MS = 10;
const SECOND_SLICES = 1000 / SLICE_MS;
const FIVE_SLICES = 5 * SECOND_SLICES;
/** Seconds above the quota are looked for every 100 ms. */
const LOOK_SLICES = 10;
const OVER = 1.01;
const BURST_SECONDS = 0.1;

/**
 * The verdict of one quota in constant memory: a ring of slices, a reference bucket and running sums. A dimension
 * without a quota is not judged; where none has one, messages tell what part of the work was admitted.
 */
export class RunningVerdict {
  readonly judged: readonly DimensionVerdict[];
  readonly #quota: readonly [number, number];
  readonly #spanSlices: number;
  /** Asked for in the span under way. */
  readonly #wanted: [number, number] = [0, 0];
  #slice = 0;

  /**
   * @param quota messages and bytes per second; Infinity = unlimited
   * @param fillSeconds how long the bucket of the quota takes to fill. Where that is more than a second, what was
   *   possible is told by spans so long: a second of 5/min is less than a request, and its burst are five
   */
  constructor(quota: readonly [number, number], fillSeconds = 1) {
    this.#quota = quota;
    this.#spanSlices = Math.max(1, Math.ceil(fillSeconds)) * SECOND_SLICES;
    const limited = ([0, 1] as const).filter((dimension) => quota[dimension] !== Infinity);
    const judged = limited.length > 0 ? limited : ([0] as const);
    this.judged = judged.map((dimension) => new DimensionVerdict(dimension, quota[dimension]));
  }

  /** A piece of work asks, for the first time or again. Times of all calls rise. */
  want(nowMs: number, messages: number, bytes: number): void {
    this.#advance(nowMs);
    this.#wanted[0] += messages;
    this.#wanted[1] += bytes;
  }

  admit(nowMs: number, messages: number, bytes: number): void {
    this.#advance(nowMs);
    for (const verdict of this.judged) verdict.admit(nowMs, verdict.dimension === 0 ? messages : bytes);
  }

  /**
   * Once, at the end. The last second is as long as the slices that it has until then. It counts as whole where it is
   * the first one as well, since the bucket was full when it began; so does a longer span, whose tokens were there.
   */
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

  /** Both quotas together let the same part of a span's work through in each dimension. */
  #endSpan(slices: number): void {
    const seconds = slices / SECOND_SLICES;
    const [messages, bytes] = this.#wanted;
    const part = Math.min(1, ratio(this.#quota[0] * seconds, messages), ratio(this.#quota[1] * seconds, bytes));
    for (const verdict of this.judged) verdict.possible += part * this.#wanted[verdict.dimension];
    this.#wanted.fill(0);
  }
}

/**
 * Tells the worst spans of any of these quotas, and what was used of all together. Where requests differ in size, more
 * of them than their part may pass in one dimension, but not in the one that binds: so the worse dimension tells what
 * was used.
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

/** 1 where nothing was possible; null where nothing is judged. */
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
  /** What both quotas together would have let through, span by span. */
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
    // Once around the ring the sums are taken anew: hours of adding and subtracting leave a rest of rounding.
    if (this.#at === 0) {
      this.#five = sum(ring);
      this.#second = sum(ring.subarray(FIVE_SLICES - SECOND_SLICES));
    }
    this.#slices++;
    // What the quota granted counts as one unit at least, as in a scenario: under a quota of 0 a ratio says nothing.
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
