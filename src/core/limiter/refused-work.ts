import { DIMENSION_COUNT } from '../base/vocabulary.js';

/** A figure since creation, per lane or per slot. */
export interface Figure {
  at(index: number): number;
}

/**
 * Counts work that a lane refused, or admitted at a later attempt. Most lanes never do, so the figures lie in pages of
 * 64 lanes, made when the first lane of a page needs one: a lane costs 100 bytes, and 48 more in such a page.
 *
 * Attempted = admitted + refused + corrections: work that waits is attempted before it is either (+), and is not
 * attempted again when it is admitted (−).
 */
export class RefusedWork {
  readonly refused: Figure = { at: (slot) => this.#ofSlot(slot, REFUSED) };
  readonly refusals: Figure = { at: (lane) => this.#at(lane, REFUSALS) };
  readonly retryRefusals: Figure = { at: (lane) => this.#at(lane, RETRY_REFUSALS) };
  /** Refusals at a first attempt; work that waits counts once, when it begins to wait. */
  readonly refusedOnce: Figure = { at: (lane) => this.#at(lane, REFUSALS) - this.#at(lane, RETRY_REFUSALS) };
  readonly #pages: (Float64Array | undefined)[] = [];

  count(lane: number, messages: number, bytes: number, retry: boolean): void {
    const page = this.#pageOf(lane);
    const first = firstOf(lane);
    page[first + REFUSALS] = page[first + REFUSALS] + 1;
    // Work that waits tries again and again inside the node, which refuses none of its units anew.
    if (retry) page[first + RETRY_REFUSALS] = page[first + RETRY_REFUSALS] + 1;
    else add(page, first + REFUSED, messages, bytes);
  }

  /** @param messages negative where work admitted now was attempted before */
  countAttempt(lane: number, messages: number, bytes: number): void {
    add(this.#pageOf(lane), firstOf(lane) + CORRECTIONS, messages, bytes);
  }

  /** The amount attempted less the amount admitted. */
  notAdmitted(slot: number): number {
    return this.#ofSlot(slot, REFUSED) + this.#ofSlot(slot, CORRECTIONS);
  }

  /** Sets the sums of amounts to 0 (limiter.ts, `keepExact`). Refusals, counted by one, go on. */
  forget(lane: number): void {
    const page = this.#pages[lane >> PAGE_BITS];
    page?.fill(0, firstOf(lane), firstOf(lane) + REFUSALS);
  }

  /** The largest of the lane's sums, in messages or bytes. */
  largest(lane: number): number {
    const page = this.#pages[lane >> PAGE_BITS];
    if (page === undefined) return 0;
    let largest = 0;
    for (let at = firstOf(lane); at < firstOf(lane) + REFUSALS; at++) largest = Math.max(largest, Math.abs(page[at]));
    return largest;
  }

  #ofSlot(slot: number, figure: number): number {
    const dimension = slot % DIMENSION_COUNT;
    return this.#at((slot - dimension) / DIMENSION_COUNT, figure + dimension);
  }

  #at(lane: number, figure: number): number {
    return this.#pages[lane >> PAGE_BITS]?.[firstOf(lane) + figure] ?? 0;
  }

  #pageOf(lane: number): Float64Array {
    const at = lane >> PAGE_BITS;
    // Filled without holes, because V8 turns a long array with holes into a slow dictionary.
    while (this.#pages.length <= at) this.#pages.push(undefined);
    let page = this.#pages[at];
    if (page === undefined) {
      page = new Float64Array(FIGURES << PAGE_BITS);
      this.#pages[at] = page;
    }
    return page;
  }
}

const PAGE_BITS = 6;
const FIGURES = 6;
/** Indexes of a lane's figures. The first two have one entry per dimension. */
const REFUSED = 0;
const CORRECTIONS = 2;
const REFUSALS = 4;
const RETRY_REFUSALS = 5;

function firstOf(lane: number): number {
  return (lane & ((1 << PAGE_BITS) - 1)) * FIGURES;
}

function add(page: Float64Array, first: number, messages: number, bytes: number): void {
  page[first] = page[first] + messages;
  page[first + 1] = page[first + 1] + bytes;
}
