/** Escapes what would take a name off its line: controls, direction marks, half surrogates, as `\u{a}`. */
export function printable(name: string): string {
  return name.replace(UNPRINTABLE, escaped);
}

export function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
