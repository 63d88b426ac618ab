/**
 * The pattern of a template's names: literal text and fields, `tenant:{t}/user:{u}`. A field stands for one character
 * or more, but for no `/`, so that a pattern does not reach below the level that it names.
 */
export class KeyPattern {
  readonly text: string;
  /** Names of the fields in their order. */
  readonly fields: readonly string[];
  /** Characters that are not of a field: of several patterns that match a name, the one with the most is in force. */
  readonly literals: number;
  readonly #parts: readonly Part[];

  private constructor(text: string, parts: readonly Part[]) {
    this.text = text;
    this.#parts = parts;
    this.fields = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field]));
    this.literals = parts.filter((part) => typeof part === 'string').length;
  }

  /** Returns what is wrong with the text where it is no pattern. */
  static of(text: string): KeyPattern | string {
    const parts: Part[] = [];
    for (let at = 0; at < text.length; ) {
      const [whole, field] = /^\{([A-Za-z][A-Za-z0-9]*)\}/.exec(text.slice(at)) ?? [];
      if (whole === undefined || field === undefined) {
        const letter = text.charAt(at);
        if (!NAME_LETTER.test(letter)) return `may not hold ${JSON.stringify(letter)} there`;
        parts.push(letter);
        at++;
        continue;
      }
      if (typeof parts.at(-1) === 'object') return `has nothing between {${field}} and the field before it`;
      if (parts.some((part) => typeof part === 'object' && part.field === field)) return `has {${field}} twice`;
      parts.push({ field });
      at += whole.length;
    }
    if (!parts.some((part) => typeof part === 'object')) return 'has no field like {id}';
    if (text.length > PATTERN_MAX) return `is longer than ${PATTERN_MAX} characters`;
    if (typeof parts[0] === 'string' && !/[A-Za-z0-9]/.test(parts[0]))
      return 'must begin with a letter, digit or field';
    return new KeyPattern(text, parts);
  }

  /**
   * A field first takes one character; where what follows does not match, the last field takes one more. No field
   * before it has to: it would only leave less to the last one. So it takes at most length of name × length of pattern
   * steps, while a regular expression with four fields takes ten seconds for a name of 200 colons.
   */
  matches(name: string): boolean {
    const parts = this.#parts;
    let [part, at] = [0, 0];
    // Behind the last field, and the character that it takes next.
    let [behindField, taken] = [-1, 0];
    while (at < name.length) {
      const wanted = parts[part];
      if (typeof wanted === 'object' && name[at] !== '/') {
        part++;
        at++;
        [behindField, taken] = [part, at];
      } else if (wanted !== undefined && wanted === name[at]) {
        part++;
        at++;
      } else {
        if (behindField === -1 || taken >= name.length || name[taken] === '/') return false;
        taken++;
        [part, at] = [behindField, taken];
      }
    }
    return part === parts.length;
  }

  /** The name with this value in its only field. */
  nameWith(value: string): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : value)).join('');
  }

  /** Whether some name matches both. */
  overlaps(other: KeyPattern): boolean {
    const [one, two] = [this.#parts, other.#parts];
    // Pairs of places up to which one text may have matched both; a field has taken a letter or not yet.
    const seen = new Set<string>();
    const open: (readonly [number, boolean, number, boolean])[] = [[0, false, 0, false]];
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      const [at, isIn, otherAt, isOtherIn] = pair;
      if (seen.has(pair.join())) continue;
      seen.add(pair.join());
      if (at === one.length && otherAt === two.length) return true;
      if (isIn) open.push([at + 1, false, otherAt, isOtherIn]);
      if (isOtherIn) open.push([at, isIn, otherAt + 1, false]);
      const [part, otherPart] = [one[at], two[otherAt]];
      if (part === undefined || otherPart === undefined) continue;
      if (typeof part === 'string' && typeof otherPart === 'string') {
        if (part === otherPart) open.push([at + 1, false, otherAt + 1, false]);
      } else if (typeof part === 'object' && typeof otherPart === 'object') open.push([at, true, otherAt, true]);
      else if (typeof part === 'object' && otherPart !== '/') open.push([at, true, otherAt + 1, false]);
      else if (typeof otherPart === 'object' && part !== '/') open.push([at + 1, false, otherAt, true]);
    }
    return false;
  }
}

/** A letter, or a field. */
type Part = string | { readonly field: string };

/** As in the name of a group: what a header and a path hold as it is. */
const NAME_LETTER = /[A-Za-z0-9._:/@+~-]/;
const PATTERN_MAX = 200;
