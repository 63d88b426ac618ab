import { KEY_NAME_MAX } from '../../base/constants.js';

/**
 * Matches names of keys with literal text and fields, `tenant:{t}/user:{u}`. A field stands for any text, also for
 * none: names contain addresses with a slash, base64, spaces.
 */
export class KeyPattern {
  readonly text: string;
  /** Names of the fields in their order. */
  readonly fields: readonly string[];
  /** Characters outside of fields: of several matching patterns the one with the most is in force. */
  readonly literals: number;
  readonly #parts: readonly Part[];

  private constructor(text: string, parts: readonly Part[]) {
    this.text = text;
    this.#parts = parts;
    this.fields = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field]));
    this.literals = parts.filter((part) => typeof part === 'string').length;
  }

  /** Parses a pattern, or returns the fault of its text. */
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
    if (text.length > KEY_NAME_MAX) return `is longer than ${KEY_NAME_MAX} characters`;
    if (typeof parts[0] === 'string' && !/[A-Za-z0-9]/.test(parts[0]))
      return 'must begin with a letter, digit or field';
    return new KeyPattern(text, parts);
  }

  /**
   * Tests a name. A field first takes nothing; at a mismatch behind it the last field takes one character more. Earlier
   * fields need no more: that would only leave less to the last one.
   *
   *     steps ≤ length of name × length of pattern
   *
   * *Why not a regular expression:* its steps may grow with a power of the name's length, by one degree
   * for each field.
   */
  matches(name: string): boolean {
    const parts = this.#parts;
    let [part, at] = [0, 0];
    // The parts behind the last field, and the end of its text.
    let [behindField, taken] = [-1, 0];
    while (at < name.length) {
      const wanted = parts[part];
      if (typeof wanted === 'object') {
        part++;
        [behindField, taken] = [part, at];
      } else if (wanted !== undefined && wanted === name[at]) {
        part++;
        at++;
      } else {
        if (behindField === -1) return false;
        taken++;
        [part, at] = [behindField, taken];
      }
    }
    while (typeof parts[part] === 'object') part++;
    return part === parts.length;
  }

  /** Returns the name with this value in its only field. */
  nameWith(value: string): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : value)).join('');
  }

  /** Tests if a name can match both. */
  overlaps(other: KeyPattern): boolean {
    const [one, two] = [this.#parts, other.#parts];
    // Pairs of indexes up to which one text may have matched both.
    const seen = new Set<string>();
    const open: (readonly [number, number])[] = [[0, 0]];
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      const [at, otherAt] = pair;
      if (seen.has(pair.join())) continue;
      seen.add(pair.join());
      if (at === one.length && otherAt === two.length) return true;
      const [part, otherPart] = [one[at], two[otherAt]];
      const [isField, isOtherField] = [typeof part === 'object', typeof otherPart === 'object'];
      // A field ends, or takes a letter of the other one.
      if (isField || (isOtherField && part !== undefined)) open.push([at + 1, otherAt]);
      if (isOtherField || (isField && otherPart !== undefined)) open.push([at, otherAt + 1]);
      if (!isField && part !== undefined && part === otherPart) open.push([at + 1, otherAt + 1]);
    }
    return false;
  }
}

/** A letter, or a field. */
type Part = string | { readonly field: string };

/** Letters as in the name of a group; fields stand for any. */
const NAME_LETTER = /[A-Za-z0-9._:/@+~-]/;
