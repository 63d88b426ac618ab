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
  readonly #all: Wildcard<Each>[] = [];

  /** The patterns, in their order. */
  get patterns(): readonly string[] {
    return this.#all.map(({ parts }) => parts.join('*'));
  }

  add(pattern: string, each: Each): void {
    const parts = pattern.split('*');
    const wildcard = { parts, each, order: this.#all.length };
    this.#all.push(wildcard);
    const [beginning] = parts;
    const alike = this.#byBeginning.get(beginning);
    if (alike === undefined) this.#byBeginning.set(beginning, [wildcard]);
    else alike.push(wildcard);
    this.#lengths = [...new Set([...this.#lengths, beginning.length])].sort((one, other) => one - other);
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

/** Tests if a value may match both patterns: what begins and ends them decides, and what is between may be there. */
export function mayMatchBoth(one: string, other: string): boolean {
  const [parts, others] = [one.split('*'), other.split('*')];
  const [begin, otherBegin] = [parts[0], others[0]];
  const [end, otherEnd] = [parts.at(-1) ?? '', others.at(-1) ?? ''];
  const begins = begin.startsWith(otherBegin) || otherBegin.startsWith(begin);
  return begins && (end.endsWith(otherEnd) || otherEnd.endsWith(end));
}
