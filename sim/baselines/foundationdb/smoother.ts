/** Follows a total by one time constant, in seconds; gives estimate and rate. */
export class Smoother {
  readonly #tauSec: number;
  #total = 0;
  #estimate = 0;
  #atSec = 0;

  constructor(tauSec: number) {
    this.#tauSec = tauSec;
  }

  reset(total: number, nowSec: number): void {
    this.#total = total;
    this.#estimate = total;
    this.#atSec = nowSec;
  }

  add(amount: number, nowSec: number): void {
    this.#follow(nowSec);
    this.#total += amount;
  }

  set(total: number, nowSec: number): void {
    this.add(total - this.#total, nowSec);
  }

  estimate(nowSec: number): number {
    this.#follow(nowSec);
    return this.#estimate;
  }

  rate(nowSec: number): number {
    this.#follow(nowSec);
    return (this.#total - this.#estimate) / this.#tauSec;
  }

  #follow(nowSec: number): void {
    const elapsedSec = nowSec - this.#atSec;
    if (elapsedSec <= 0) return;
    this.#atSec = nowSec;
    this.#estimate += (this.#total - this.#estimate) * (1 - Math.exp(-elapsedSec / this.#tauSec));
  }
}

/** Follows a total and its trend (Holt), each by a time constant. */
export class HoltSmoother {
  readonly #tauSec: number;
  readonly #trendTauSec: number;
  #total = 0;
  #lastEstimate = 0;
  #lastRate = 0;
  #atSec = 0;

  constructor(tauSec: number, trendTauSec: number) {
    this.#tauSec = tauSec;
    this.#trendTauSec = trendTauSec;
  }

  add(amount: number, nowSec: number): void {
    if (nowSec > this.#atSec) {
      const rate = this.rate(nowSec);
      this.#lastEstimate = this.#estimate(nowSec);
      this.#lastRate = rate;
      this.#atSec = nowSec;
    }
    this.#total += amount;
  }

  rate(nowSec: number): number {
    const elapsedSec = nowSec - this.#atSec;
    if (elapsedSec <= 0) return this.#lastRate;
    const beta = 1 - Math.exp(-elapsedSec / this.#trendTauSec);
    return (beta * (this.#estimate(nowSec) - this.#lastEstimate)) / elapsedSec + (1 - beta) * this.#lastRate;
  }

  #estimate(nowSec: number): number {
    const elapsedSec = nowSec - this.#atSec;
    const alpha = 1 - Math.exp(-elapsedSec / this.#tauSec);
    return alpha * this.#total + (1 - alpha) * (this.#lastEstimate + elapsedSec * this.#lastRate);
  }
}
