import type { GroupConfig } from '../../../config/resolved/resolved-config.js';
import { lanesOf } from '../../../core/base/vocabulary.js';
import { isSameValue } from '../least-definition.js';
import type { KeyBookParts } from './key-book.js';

interface KeyNumbersParts extends Pick<KeyBookParts, 'groups' | 'limiter' | 'loop' | 'define' | 'rename'> {
  /** Most numbers: keys.maxLoud. */
  readonly max: number;
  /** Tests if somebody still knows the key whose group is like this. */
  readonly isKnown: (name: string, config: GroupConfig) => boolean;
}

/** Keeps the number of each key's group. All given, the number of a forgotten key goes to another. */
export class KeyNumbers {
  readonly #parts: KeyNumbersParts;
  /** Name → number of every published key, and of some former ones. */
  readonly #numbers = new Map<string, number>();
  #next: IterableIterator<[string, number]> = this.#numbers.entries();

  constructor(parts: KeyNumbersParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#numbers.size;
  }

  of(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /**
   * Finds a number for a key's group: its own, a new one, or that of a key of which nothing is left; null = there is
   * none.
   * @param isFrugal a new number is the last choice
   */
  place(config: GroupConfig, isFrugal = false): number | null {
    const hasRoom = this.#numbers.size < this.#parts.max;
    if (this.#numbers.has(config.name) || (hasRoom && !isFrugal)) return this.define(config);
    const number = this.#takeUnused();
    if (number === null) return hasRoom ? this.define(config) : null;
    this.#parts.rename(number, config);
    this.#numbers.set(config.name, number);
    return number;
  }

  /** Gives the number of a key's group: it is like this from now on. */
  define(config: GroupConfig): number {
    const known = this.#numbers.get(config.name);
    const { groups } = this.#parts;
    if (known !== undefined && groups.isLive(known) && isSameValue(groups.at(known), config)) return known;
    const number = this.#parts.define(config);
    this.#numbers.set(config.name, number);
    return number;
  }

  /** Takes the number of a key with nothing left to remember. Null = the next ones are all in use. */
  #takeUnused(): number | null {
    for (let looked = Math.min(LOOKED_AT, this.#numbers.size); looked > 0; looked--) {
      let next = this.#next.next();
      if (next.done === true) {
        this.#next = this.#numbers.entries();
        next = this.#next.next();
      }
      const [name, number] = next.value as [string, number];
      if (!this.#isUnused(name, number)) continue;
      this.#numbers.delete(name);
      return number;
    }
    return null;
  }

  /** Checks that nothing names its lanes by number: no reservation, batch or waiting request is open. */
  #isUnused(name: string, number: number): boolean {
    const { groups, limiter, loop, isKnown } = this.#parts;
    if (isKnown(name, groups.at(number)) || groups.isGroup(number)) return false;
    return lanesOf(number).every((lane) => limiter.isAtRest(lane)) && loop.coordinator?.isForgotten(number) === true;
  }
}

/** Numbers looked at for a new key; more find an unused one sooner, and take longer. */
const LOOKED_AT = 64;
