/**
 * Finds the first wildcard of the file that a value matches. `*` stands for any text, also for none, anywhere and more
 * than once.
 *
 *     looks = different lengths of what stands before the first `*`, and the patterns that begin alike
 */
export class Wildcards<Each> {
  /** Text before the first `*` → patterns, in their order. */
  readonly #byBeginning = new Map<string, Wildcard<Each>[]>();
  #lengths: readonly number[] = [];
  #count = 0;

  add(pattern: string, each: Each): void {
    const parts = pattern.split('*');
    const wildcard = { parts, each, order: this.#count++ };
    const [beginning] = parts;
    const alike = this.#byBeginning.get(beginning);
    if (alike === undefined) this.#byBeginning.set(beginning, [wildcard]);
    else alike.push(wildcard);
    if (this.#lengths.includes(beginning.length)) return;
    this.#lengths = [...this.#lengths, beginning.length].sort((one, other) => one - other);
  }

  /** Finds a pattern that may have this one's values: no longer beginning; null = none. */
  coverOf(pattern: string): string | null {
    const [beginning] = pattern.split('*');
    for (const length of this.#lengths) {
      if (length > beginning.length) break;
      for (const { parts } of this.#byBeginning.get(beginning.slice(0, length)) ?? NONE) {
        if (mayEndAlike(parts.at(-1) ?? '', pattern.slice(pattern.lastIndexOf('*') + 1))) return parts.join('*');
      }
    }
    return null;
  }

  find(value: string): Each | null {
    let first: Wildcard<Each> | null = null;
    for (const length of this.#lengths) {
      if (length > value.length) break;
      for (const wildcard of this.#byBeginning.get(value.slice(0, length)) ?? NONE) {
        if (first !== null && first.order < wildcard.order) break;
        if (matchesParts(wildcard.parts, value)) first = wildcard;
      }
    }
    return first === null ? null : first.each;
  }
}

interface Wildcard<Each> {
  /** Texts between the `*`. */
  readonly parts: readonly string[];
  readonly each: Each;
  readonly order: number;
}

const NONE: readonly never[] = [];

/** Tests a value whose beginning fits: each text at its first place behind the one before, the last at the end. */
function matchesParts(parts: readonly string[], value: string): boolean {
  const last = parts.length - 1;
  const end = value.length - parts[last].length;
  let at = parts[0].length;
  for (let part = 1; part < last; part++) {
    const found = value.indexOf(parts[part], at);
    if (found === -1 || found + parts[part].length > end) return false;
    at = found + parts[part].length;
  }
  return at <= end && value.endsWith(parts[last]);
}

function mayEndAlike(one: string, other: string): boolean {
  return one.endsWith(other) || other.endsWith(one);
}
