/** Counts arrivals and admissions per group, in bins of half a second. */
export class SwarmMeter {
  static readonly binMs = 500;
  /** Rounds up to a bin's begin. */
  static upwards(ms: number): number {
    return Math.ceil(ms / SwarmMeter.binMs) * SwarmMeter.binMs;
  }

  readonly #bins: number;
  readonly #arrived: Uint32Array;
  readonly #admitted: Uint32Array;

  constructor(groups: number, endMs: number) {
    this.#bins = Math.ceil(endMs / SwarmMeter.binMs) + 1;
    this.#arrived = new Uint32Array(groups * this.#bins);
    this.#admitted = new Uint32Array(groups * this.#bins);
  }

  asked(group: number, nowMs: number, isAdmitted: boolean): void {
    const bin = group * this.#bins + Math.floor(nowMs / SwarmMeter.binMs);
    this.#arrived[bin]++;
    if (isAdmitted) this.#admitted[bin]++;
  }

  arrived(group: number, fromMs: number, untilMs: number): number {
    return this.#sum(this.#arrived, group, fromMs, untilMs);
  }

  admitted(group: number, fromMs: number, untilMs: number): number {
    return this.#sum(this.#admitted, group, fromMs, untilMs);
  }

  #sum(bins: Uint32Array, group: number, fromMs: number, untilMs: number): number {
    const first = group * this.#bins;
    let total = 0;
    for (let at = first + fromMs / SwarmMeter.binMs; at < first + untilMs / SwarmMeter.binMs; at++) total += bins[at];
    return total;
  }
}
