import { AgreedPool } from '../../src/core/usage-map/pool/agreed-pool.js';

/** A record of the membership partition, or where its log time gives a silent node up. */
export interface Entry {
  readonly kind: 'node' | 'farewell' | 'expired';
  readonly node: number;
  readonly claim: number;
  readonly sequence: number;
}

/** What a node learns about itself where it has read as far. */
export interface OwnEntry {
  readonly at: number;
  readonly isAlive: boolean;
  readonly isServed: boolean;
  /** Sequence of its newest record in the log. */
  readonly sequence: number;
}

/**
 * A log of claims, and what the production pool says at each of its offsets. The pool is a function of the log, with no
 * word about who reads it: it is asked once per offset for all 1,000 members, who look up the offset that they have
 * read to. Once per member would be 1,000 times the same.
 */
export class PoolLog {
  length = 0;
  readonly #pool = new AgreedPool();
  readonly #alive = new Set<number>();
  readonly #own = new Map<number, OwnEntry[]>();
  readonly #divisors: number[] = [1];
  readonly #lives: number[] = [0];

  append({ kind, node, claim, sequence }: Entry): void {
    const before = this.#pool.changes;
    this.length++;
    if (kind === 'node') {
      this.#alive.add(node);
      this.#pool.heard(node, claim);
    } else {
      this.#alive.delete(node);
      this.#pool.gone(node);
    }
    this.#note(node, sequence);
    if (this.#pool.changes !== before) for (const each of this.#alive) this.#noteServed(each);
    this.#divisors.push(this.#pool.divisor);
    this.#lives.push(this.#alive.size);
  }

  of(node: number): readonly OwnEntry[] {
    return this.#own.get(node) ?? NOTHING;
  }

  divisorAt(position: number): number {
    return this.#divisors[position];
  }

  liveAt(position: number): number {
    return this.#lives[position];
  }

  #noteServed(node: number): void {
    const newest = this.#own.get(node)?.at(-1) as OwnEntry;
    if (newest.isServed !== this.#pool.isServed(node)) this.#note(node, newest.sequence);
  }

  #note(node: number, sequence: number): void {
    const entries = this.#own.get(node) ?? [];
    if (entries.length === 0) this.#own.set(node, entries);
    const [isAlive, isServed] = [this.#alive.has(node), this.#pool.isServed(node)];
    entries.push({ at: this.length, isAlive, isServed, sequence });
  }
}

const NOTHING: readonly OwnEntry[] = [];
