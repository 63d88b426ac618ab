/**
 * Hashes ids that others choose, by a seed that they do not know: sums of random multiples (multilinear hashing).
 *
 *     sum = constant + Σ part × multiplier   (mod 2^32, parts of 16 bits)
 *
 * The upper 16 bits of such a sum are evenly spread over all multipliers, and independent for each two inputs. A hash
 * is two of them, mixed, so that neighbours scatter. So two ids share one of 2^k cells under one seed of 2^k, whatever
 * they are: n ids in n cells meet one other each on the average, and who adds one that meets more does not know where.
 *
 * Why: a mix of bits is inverted as fast as it is computed. A seed in it changes where ids that were made for one cell
 * fall, and not that they fall together.
 */
export class KeyedHash {
  /** Pairs, one multiplier for each of the two sums; the first pair are the constants. */
  readonly #multipliers: Int32Array;

  /** @param seed a random number of 32 bits */
  constructor(seed: number) {
    this.#multipliers = randomWords(seed, 2 * (1 + PARTS));
  }

  /** Hashes three words of 32 bits and a small number, such as an id and a direction. Returns 32 bits. */
  of(first: number, second: number, third: number, small: number): number {
    const upper = this.#sumOf(first, second, third, small, 0);
    const lower = this.#sumOf(first, second, third, small, 1);
    return mixed((upper & 0xffff0000) | (lower >>> 16)) >>> 0;
  }

  #sumOf(first: number, second: number, third: number, small: number, at: 0 | 1): number {
    const multipliers = this.#multipliers;
    let sum = (multipliers[at] + Math.imul(first & 0xffff, multipliers[2 + at])) | 0;
    sum = (sum + Math.imul(first >>> 16, multipliers[4 + at])) | 0;
    sum = (sum + Math.imul(second & 0xffff, multipliers[6 + at])) | 0;
    sum = (sum + Math.imul(second >>> 16, multipliers[8 + at])) | 0;
    sum = (sum + Math.imul(third & 0xffff, multipliers[10 + at])) | 0;
    sum = (sum + Math.imul(third >>> 16, multipliers[12 + at])) | 0;
    return (sum + Math.imul(small, multipliers[14 + at])) | 0;
  }
}

const PARTS = 7;

/** Draws words from a seed (splitmix32). */
function randomWords(seed: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, at) => mixed(seed + Math.imul(at + 1, 0x9e3779b9)));
}

/** Scatters neighbours: each word has a place of its own, which depends on all its bits. */
function mixed(word: number): number {
  let bits = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return bits ^ (bits >>> 15);
}
