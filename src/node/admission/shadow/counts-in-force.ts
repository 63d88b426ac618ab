import { DIMENSION_COUNT, MESSAGES } from '../../../core/base/vocabulary.js';
import type { Limiter } from '../../../core/limiter/limiter.js';
import type { Figure } from '../../../core/limiter/refused-work.js';
import type { ShadowCount, ShadowCounts } from './shadow-counts.js';

/**
 * Counts callers' grants and refusals, per slot or lane, since creation. Where a group refuses nothing, the limiter
 * counts its shadow's decisions; this corrects them.
 */
export class CountsInForce {
  readonly admitted: Figure = {
    at: (slot) => this.#limiter.admitted.at(slot) + amountAt(slot, this.#of(slot).letPass),
  };
  readonly attempted: Figure = {
    at: (slot) => this.#limiter.attempted.at(slot) + amountAt(slot, this.#of(slot).uncounted),
  };
  readonly refused: Figure = {
    at: (slot) => leastZero(this.#limiter.refused.at(slot) - amountAt(slot, this.#of(slot).notRefused)),
  };
  /** Refused work per lane, each once. */
  readonly refusedOnce: Figure = {
    at: (lane) => this.#limiter.refusedOnce.at(lane) - this.#counts.of(lane).notRefused.requests,
  };
  readonly #limiter: Limiter;
  readonly #counts: ShadowCounts;

  constructor(limiter: Limiter, counts: ShadowCounts) {
    this.#limiter = limiter;
    this.#counts = counts;
  }

  #of(slot: number) {
    return this.#counts.of(Math.floor(slot / DIMENSION_COUNT));
  }
}

function amountAt(slot: number, { messages, bytes }: Readonly<ShadowCount>): number {
  return slot % DIMENSION_COUNT === MESSAGES ? messages : bytes;
}

function leastZero(amount: number): number {
  return Math.max(0, amount);
}
