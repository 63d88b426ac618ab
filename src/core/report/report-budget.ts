import { AT_ONCE_MS } from '../account/constants.js';
import { OLDEST_EVERY } from './constants/constants.js';
import type { Bundle } from './report-book.js';

/**
 * Bounds a node's reports per second, and orders the due ones.
 *
 *     three of four   the largest deviation: others' figures of it are most wrong
 *     every fourth    the longest due one, so that none waits for ever: of B bundles each is written after 4·B
 *                     reports at most, however large the others' deviations are
 *
 * Rejected: to let a deviation grow with its wait. Where all wait, that is the order of their age, and the largest
 * deviations wait as long as the smallest.
 */
export class ReportBudget {
  waiting = 0;
  /** Local monotonic time since which bundles are held back; Infinity = none is. */
  shortSinceMs = Infinity;
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #filledMs = -Infinity;
  #turn = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#burst = Math.max(1, (AT_ONCE_MS / 1000) * perSecond);
    this.#left = this.#burst;
  }

  /** Returns the bundles that are written now: all in their order, or in turn those that the budget has room for. */
  choose(due: readonly Bundle[], nowMs: number): readonly Bundle[] {
    this.#left = Math.min(this.#burst, this.#left + (this.#perSecond * (nowMs - this.#filledMs)) / 1000);
    this.#filledMs = nowMs;
    const count = Math.min(due.length, Math.floor(this.#left));
    this.#left -= count;
    this.waiting = due.length - count;
    if (this.waiting === 0) {
      this.shortSinceMs = Infinity;
      return due;
    }
    this.shortSinceMs = Math.min(this.shortSinceMs, nowMs);
    for (const bundle of due) bundle.dueSinceMs = Math.min(bundle.dueSinceMs, nowMs);
    return count === 0 ? [] : this.#firstOf(due, count);
  }

  #firstOf(due: readonly Bundle[], count: number): Bundle[] {
    const orders = {
      oldest: due.toSorted((one, other) => one.dueSinceMs - other.dueSinceMs || one.number - other.number),
      largest: due.toSorted((one, other) => other.deviation - one.deviation || one.number - other.number),
    };
    const next = { oldest: 0, largest: 0 };
    const chosen = new Set<Bundle>();
    while (chosen.size < count) {
      const order = this.#turn % OLDEST_EVERY === 0 ? 'oldest' : 'largest';
      const bundle = orders[order][next[order]++];
      if (chosen.has(bundle)) continue;
      chosen.add(bundle);
      this.#turn++;
    }
    return [...chosen];
  }
}
