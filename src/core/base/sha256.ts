/**
 * Computes SHA-256 (FIPS 180-4) of a text: eight words of 32 bits.
 *
 * Each UTF-16 code unit is encoded by itself, in one to three bytes as UTF-8 would encode it. So no two texts have the
 * same bytes, halves of surrogate pairs included.
 *
 * *Why:* the core imports no packages, and ids are made where groups are. test/unit/core/sha256.test.ts compares it
 * with another implementation.
 */
export function sha256(text: string): Uint32Array {
  const byteCount = encode(text);
  const blocks = Math.ceil((byteCount + PADDING_BYTES) / BLOCK_BYTES);
  // Padding: a bit of 1, and the length in bits.
  put(byteCount, 0x80);
  message[blocks * BLOCK_WORDS - 1] = byteCount * 8;
  hash.set(START);
  for (let block = 0; block < blocks; block++) compress(block * BLOCK_WORDS);
  return hash;
}

/** Writes the text into `message`, big endian, and returns its bytes. */
function encode(text: string): number {
  reserve(3 * text.length + BLOCK_BYTES + PADDING_BYTES);
  message.fill(0, 0, ((3 * text.length + PADDING_BYTES) >>> 2) + BLOCK_WORDS);
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      put(at++, unit);
    } else if (unit < 0x800) {
      put(at++, 0xc0 | (unit >>> 6));
      put(at++, 0x80 | (unit & 63));
    } else {
      put(at++, 0xe0 | (unit >>> 12));
      put(at++, 0x80 | ((unit >>> 6) & 63));
      put(at++, 0x80 | (unit & 63));
    }
  }
  return at;
}

function put(at: number, byte: number): void {
  message[at >>> 2] |= byte << (24 - 8 * (at & 3));
}

function reserve(bytes: number): void {
  const words = (bytes >>> 2) + BLOCK_WORDS;
  if (words > message.length) message = new Uint32Array(2 * words);
}

function compress(begin: number): void {
  for (let at = 0; at < BLOCK_WORDS; at++) schedule[at] = message[begin + at];
  for (let at = BLOCK_WORDS; at < ROUNDS; at++) {
    const early = schedule[at - 15];
    const late = schedule[at - 2];
    const mixedEarly = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const mixedLate = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    schedule[at] = schedule[at - 16] + mixedEarly + schedule[at - 7] + mixedLate;
  }
  let a = hash[0] | 0;
  let b = hash[1] | 0;
  let c = hash[2] | 0;
  let d = hash[3] | 0;
  let e = hash[4] | 0;
  let f = hash[5] | 0;
  let g = hash[6] | 0;
  let h = hash[7] | 0;
  for (let at = 0; at < ROUNDS; at++) {
    const chosen = (e & f) ^ (~e & g);
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + chosen + CONSTANTS[at] + schedule[at]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  hash[0] += a;
  hash[1] += b;
  hash[2] += c;
  hash[3] += d;
  hash[4] += e;
  hash[5] += f;
  hash[6] += g;
  hash[7] += h;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

const BLOCK_BYTES = 64;
const BLOCK_WORDS = 16;
const ROUNDS = 64;
/** The bit of 1, and the length as 64 bits. */
const PADDING_BYTES = 9;
const schedule = new Uint32Array(ROUNDS);
const hash = new Uint32Array(8);
let message = new Uint32Array(BLOCK_WORDS * 4);

/** Fractions of the cube roots of the first 64 primes. */
// biome-ignore format: a table of the standard
const CONSTANTS = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
/** Fractions of the square roots of the first eight primes. */
// biome-ignore format: a table of the standard
const START = new Uint32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
