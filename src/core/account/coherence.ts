import { decay } from '../base/decay.js';
import { LATELY_MS } from '../report/constants/constants.js';
import { AT_ONCE_MS, CHANCE_ALIKE_RATIO } from './constants.js';

/**
 * Estimates how many nodes' charges lately went the same way. Use that N nodes leave unpublished by chance adds up to
 * √N times one node's. Where requests are spread in turn, every node has the same demand, and the sum is N times one
 * node's.
 *
 * Charges of a node within a window are added up: nodes with the same demand write within a few deliveries of each
 * other. The square of all sums together is compared with the sum of their squares: that is 1 for charges by chance or
 * of one node alone, and N where N nodes charge alike. Nodes share a few sums by their slots, so a large cluster needs
 * no more memory than a small one.
 */
export class Coherence {
  readonly #sums = new Array<number>(SUMS).fill(0);
  #squared = 0;
  #squares = 0;
  #atMs = 0;

  charge(slot: number, units: number, logMs: number): void {
    const ms = logMs - this.#atMs;
    if (ms > 0) this.#fade(ms);
    this.#sums[slot % SUMS] += units;
    let sum = 0;
    for (const each of this.#sums) {
      sum += each;
      this.#squares += each * each;
    }
    this.#squared += sum * sum;
  }

  /** Estimates how many of these nodes charge alike: from 1 to all. */
  among(nodes: number): number {
    if (this.#squares === 0) return 1;
    const most = Math.min(nodes, SUMS);
    if (most <= CHANCE_ALIKE_RATIO) return 1;
    const beyondChance = Math.min(most, this.#squared / this.#squares) - CHANCE_ALIKE_RATIO;
    return 1 + (Math.max(0, beyondChance) * (nodes - 1)) / (most - CHANCE_ALIKE_RATIO);
  }

  #fade(ms: number): void {
    this.#atMs += ms;
    const inWindow = decay(ms / AT_ONCE_MS);
    for (let at = 0; at < SUMS; at++) this.#sums[at] *= inWindow;
    const remembered = decay(ms / LATELY_MS);
    this.#squared *= remembered;
    this.#squares *= remembered;
  }
}

/** Sums that nodes share by their slots. */
const SUMS = 16;
