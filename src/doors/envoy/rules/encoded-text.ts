/** Writes letters that a name may not hold by bytes: `~XX`. */
export function encodedText(text: string, alphabet: Alphabet): string {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127 || alphabet[code] !== 1) return encodedFrom(text, at, alphabet);
  }
  return text;
}

/** Letters of ASCII that stay, by code: 1 = stays. */
export type Alphabet = Readonly<Uint8Array>;

/** Makes the alphabet of letters, digits and `others`. */
export function alphabetWith(others: string): Alphabet {
  const stays = new RegExp(`[A-Za-z0-9${others.replace(/[\\\]^-]/g, '\\$&')}]`);
  return Uint8Array.from({ length: 128 }, (_, code) => Number(stays.test(String.fromCharCode(code))));
}

function encodedFrom(text: string, first: number, alphabet: Alphabet): string {
  let encoded = text.slice(0, first);
  for (const letter of text.slice(first)) {
    const code = letter.charCodeAt(0);
    if (code > 127) for (const byte of Buffer.from(letter)) encoded += HEX[byte];
    else encoded += alphabet[code] === 1 ? letter : HEX[code];
  }
  return encoded;
}

const HEX = Array.from({ length: 256 }, (_, byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`);
