/**
 * Writes a name that somebody has sent so that it stays on its line: control characters, marks of direction and halves
 * of surrogate pairs are escaped, `\u{a}` for a new line.
 */
export function printable(name: string): string {
  return name.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
