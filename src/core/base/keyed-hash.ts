/**
 * Hashes foreign input with a seed that its authors cannot read. Ids and names are summed up as random multiples
 * (multilinear hashing):
 *
 *     sum = constant + Σ part × multiplier   (mod 2^32, parts of 16 bits)
 *
 * The upper 16 bits of such a sum are evenly spread over all multipliers, and independent for each two inputs. A hash
 * is two such sums, mixed, so that neighbours scatter. So any two ids share one of 2^k cells under one seed in 2^k: n
 * ids in n cells meet one other each on average, and nobody without the seed can choose ids that meet more.
 *
 * *Why:* a mix of bits is inverted as fast as it is computed. With a seed in it, ids that were made for one cell still
 * fall into one cell. The same holds for a chain of multiplications over a name: names of two characters that differ in
 * one bit meet under every 64th seed.
 */
export class KeyedHash {
  /** Pairs of multipliers, one for each sum; the first pair are the constants. */
  #multipliers: Int32Array;
  readonly #seed: number;

  /** @param seed a random number of 32 bits */
  constructor(seed: number) {
    this.#seed = seed;
    this.#multipliers = randomWords(seed, 2 * (1 + PARTS));
  }

  /** Hashes three words of 32 bits and a small number. Returns 32 bits. */
  of(first: number, second: number, third: number, small: number): number {
    const upper = this.#sumOf(first, second, third, small, 0);
    const lower = this.#sumOf(first, second, third, small, 1);
    return hashOf(upper, lower);
  }

  /** Hashes a text by its length and characters. Returns 32 bits. */
  ofText(text: string): number {
    const { length } = text;
    if (2 * (length + 2) > this.#multipliers.length) this.#multipliers = randomWords(this.#seed, 4 * (length + 2));
    const multipliers = this.#multipliers;
    let upper = (multipliers[0] + Math.imul(length, multipliers[2])) | 0;
    let lower = (multipliers[1] + Math.imul(length, multipliers[3])) | 0;
    for (let at = 0, multiplier = 4; at < length; at++, multiplier += 2) {
      const part = text.charCodeAt(at);
      upper = (upper + Math.imul(part, multipliers[multiplier])) | 0;
      lower = (lower + Math.imul(part, multipliers[multiplier + 1])) | 0;
    }
    return hashOf(upper, lower);
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

function hashOf(upper: number, lower: number): number {
  return mixed((upper & 0xffff0000) | (lower >>> 16)) >>> 0;
}

/** Draws words from a seed (splitmix32). */
function randomWords(seed: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, at) => mixed(seed + Math.imul(at + 1, 0x9e3779b9)));
}

/** Scatters neighbours: maps words one to one, by all their bits. */
function mixed(word: number): number {
  let bits = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return bits ^ (bits >>> 15);
}
