import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { LaneSample } from '../../../../src/core/report/sample/lane-sample.js';

export interface Work {
  /** Pieces per second; arrivals are evenly spaced over the samples. */
  readonly perSecond: number;
  readonly bytes?: number;
  /** Part of the pieces that is admitted, 0 … 1. */
  readonly admitted?: number;
  /** Work that was refused before is refused again in every sample. */
  readonly heldBack?: boolean;
}

/** A lane sampled every 20 ms from counters that the test moves by hand: fast 50 ms, slow 5 s. */
export class Sampling {
  readonly limiter = new Limiter(1);
  readonly sample = new LaneSample(50, 5000, 20);
  nowMs: number;
  #pieces = 0;

  constructor(nowMs = 1000) {
    this.nowMs = nowMs;
    this.sample.begin(this.limiter, 0, nowMs);
  }

  run(durationMs: number, { perSecond, bytes = 0, admitted = 1, heldBack = false }: Work): void {
    for (const endMs = this.nowMs + durationMs; this.nowMs < endMs; ) {
      this.nowMs += 20;
      this.#pieces += perSecond / 50;
      const whole = Math.floor(this.#pieces + 1e-9);
      this.#pieces -= whole;
      this.#count(whole, bytes, admitted);
      if (heldBack) this.limiter.countRefused(0, 0, 0, true);
      this.sample.take(this.limiter, 0, this.nowMs);
    }
  }

  #count(pieces: number, bytes: number, admitted: number): void {
    for (let piece = 0; piece < pieces; piece++) this.limiter.countArrival(0, 1, bytes);
    this.limiter.countSettled(0, pieces * admitted, pieces * bytes * admitted, true);
  }
}
