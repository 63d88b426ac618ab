import { MESSAGES } from '../base/vocabulary.js';
import { Buckets } from './buckets.js';

/** Holds one bucket for things that count one each: connections, changes, log lines. It begins full. */
export class OneBucket {
  readonly #buckets = new Buckets(1);

  constructor(perSecond: number, depth: number, nowMs: number) {
    this.#buckets.setLimit(0, MESSAGES, perSecond, depth, nowMs);
    this.#buckets.fill(0, nowMs);
  }

  /** Takes one and returns 0, or returns the milliseconds until it could. */
  take(nowMs: number): number {
    return this.#buckets.tryTake(0, 1, 0, nowMs) === -1 ? 0 : this.#buckets.waitMs(0, 1, 0, nowMs);
  }
}
