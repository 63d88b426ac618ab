/** Generates random numbers by sfc32: seeded, and the same everywhere. */
export class Random {
  /** Makes a stream per purpose: drawing from one leaves others alone. Seed: FNV-1a of the name. */
  static stream(seed: number, name: string): Random {
    let hash = 0x811c9dc5 ^ seed;
    for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    return new Random(Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ seed);
  }

  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = 0x9e3779b9;
    this.#c = 0x243f6a88;
    for (let warmUp = 0; warmUp < 12; warmUp++) this.next();
  }

  /** Draws uniformly from [0, 1). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** Draws an exponential waiting time. */
  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean;
  }
}
