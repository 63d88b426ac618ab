/**
 * Escapes what would take a name off its line. Control characters, marks of direction and halves of surrogate pairs
 * become `\u{a}` and the like.
 */
export function printable(name: string): string {
  return name.replace(UNPRINTABLE, escaped);
}

export function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
