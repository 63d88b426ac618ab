import type { Verdict } from '../verdict/run-result.js';

/** What can be told of a trace: it states no rates, so there are no steps to settle after and no fair shares. */
export type TraceVerdict = Pick<
  Verdict,
  'overAdmission' | 'worstSecond' | 'secondsOver' | 'overshootTokens' | 'utilisation' | 'records' | 'bytes'
>;

/** Windows end every 100 ms. */
export const SLICE_MS = 100;
const SLICES_PER_SECOND = 10;
const OVER = 1.01;
const BURST_SECONDS = 0.1;

/** The verdict of one dimension in constant memory: rings of slices, the reference bucket, running sums. */
export class RunningVerdict {
  readonly #quota: number;
  readonly #second = new SlidingSum(SLICES_PER_SECOND);
  readonly #fiveSeconds = new SlidingSum(5 * SLICES_PER_SECOND);
  readonly #demand = new SlidingSum(SLICES_PER_SECOND);
  #worstSecond = 0;
  #worstFive = 0;
  #slicesOver = 0;
  #tokens: number;
  #tokensAtMs = 0;
  #overshoot = 0;
  #admitted = 0;
  #possible = 0;
  #admittedSlice = 0;
  #demandSlice = 0;

  /** @param quota units per second; Infinity = unlimited */
  constructor(quota: number) {
    this.#quota = quota;
    this.#tokens = quota * BURST_SECONDS;
  }

  count(nowMs: number, amount: number, isAdmitted: boolean): void {
    this.#demandSlice += amount;
    if (!isAdmitted) return;
    this.#admittedSlice += amount;
    if (this.#quota === Number.POSITIVE_INFINITY) return;
    const refilled = this.#tokens + (this.#quota * (nowMs - this.#tokensAtMs)) / 1000;
    this.#tokens = Math.min(this.#quota * BURST_SECONDS, refilled) - amount;
    this.#tokensAtMs = nowMs;
    if (-this.#tokens > this.#overshoot) this.#overshoot = -this.#tokens;
  }

  endSlice(): void {
    this.#admitted += this.#admittedSlice;
    const second = this.#second.push(this.#admittedSlice);
    const five = this.#fiveSeconds.push(this.#admittedSlice);
    const demand = this.#demand.push(this.#demandSlice);
    // A tenth of what the quota and the demand of this second allow; over all slices that sums up to the integral.
    this.#possible += Math.min(this.#quota, demand) / SLICES_PER_SECOND;
    this.#admittedSlice = 0;
    this.#demandSlice = 0;
    this.#worstSecond = Math.max(this.#worstSecond, second / this.#quota);
    this.#worstFive = Math.max(this.#worstFive, five / (5 * this.#quota));
    if (second > OVER * this.#quota) this.#slicesOver++;
  }

  verdict(): Omit<TraceVerdict, 'records' | 'bytes'> {
    return {
      overAdmission: Math.max(0, this.#worstFive - 1),
      worstSecond: this.#worstSecond,
      secondsOver: this.#slicesOver / SLICES_PER_SECOND,
      overshootTokens: this.#overshoot,
      utilisation: this.#possible === 0 ? 1 : this.#admitted / this.#possible,
    };
  }
}

/** The worst of several dimensions; the use is that of the one that binds. */
export function worseOf(one: ReturnType<RunningVerdict['verdict']>, other: ReturnType<RunningVerdict['verdict']>) {
  return {
    overAdmission: Math.max(one.overAdmission, other.overAdmission),
    worstSecond: Math.max(one.worstSecond, other.worstSecond),
    secondsOver: Math.max(one.secondsOver, other.secondsOver),
    overshootTokens: Math.max(one.overshootTokens, other.overshootTokens),
    utilisation: Math.max(one.utilisation, other.utilisation),
  };
}

class SlidingSum {
  readonly #ring: Float64Array;
  #at = 0;
  #total = 0;

  constructor(length: number) {
    this.#ring = new Float64Array(length);
  }

  push(amount: number): number {
    this.#total += amount - (this.#ring[this.#at] as number);
    this.#ring[this.#at] = amount;
    this.#at = (this.#at + 1) % this.#ring.length;
    // Once per round the sum is taken anew: hours of adding and subtracting leave a rest of rounding.
    if (this.#at === 0) this.#total = this.#ring.reduce((total, one) => total + one, 0);
    return this.#total;
  }
}
