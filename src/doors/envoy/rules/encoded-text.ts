/** Writes letters that a name may not hold by bytes: `~XX`. */
export function encodedText(text: string, outside: RegExp): string {
  return outside.test(text) ? text.replace(new RegExp(outside, 'gu'), bytesOf) : text;
}

function bytesOf(letters: string): string {
  return Array.from(Buffer.from(letters), (byte) => `~${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
