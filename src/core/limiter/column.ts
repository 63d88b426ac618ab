/**
 * Reads one figure of every row in an array of lines. A line holds all that one decision reads and writes, in one or
 * two cache lines; an array per figure would cost a decision over 5,000 groups seven. The limiter's hot path reads the
 * line itself.
 */
export class Column {
  readonly length: number;
  readonly #lines: Float64Array;
  readonly #first: number;
  readonly #width: number;
  readonly #stride: number;

  /** @param width entries of a row: one, or one per dimension (the index is then a slot, core/base/vocabulary.ts) */
  constructor(lines: Float64Array, first: number, width: number, stride: number = LINE_LENGTH) {
    this.#lines = lines;
    this.#first = first;
    this.#width = width;
    this.#stride = stride;
    this.length = (lines.length / stride) * width;
  }

  at(index: number): number {
    return this.#lines[this.#cellOf(index)];
  }

  set(index: number, figure: number): void {
    this.#lines[this.#cellOf(index)] = figure;
  }

  fill(figure: number): void {
    for (let index = 0; index < this.length; index++) this.set(index, figure);
  }

  *[Symbol.iterator](): Iterator<number> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  #cellOf(index: number): number {
    const entry = index % this.#width;
    return ((index - entry) / this.#width) * this.#stride + this.#first + entry;
  }
}

/** Doubles in a line: 64 bytes. */
export const LINE_LENGTH = 8;
/** Indexes in the line of a row of buckets, after the tokens. The first ones are read without a refill. */
export const REFILLED_AT = 2;
export const VALID_UNTIL_AT = 3;
export const DEPTH_AT = 4;
export const RATE_AT = 6;
