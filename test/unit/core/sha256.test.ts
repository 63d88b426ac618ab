import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/core/base/sha256.js';
import { codePoints } from '../../property/seed.js';

/** Each UTF-16 code unit by itself, as the core encodes it. */
function bytesOf(text: string): Buffer {
  return Buffer.concat(
    Array.from({ length: text.length }, (_, at) => {
      const unit = text.charCodeAt(at);
      if (unit < 0xd800 || unit > 0xdfff) return Buffer.from(text[at]);
      return Buffer.from([0xe0 | (unit >>> 12), 0x80 | ((unit >>> 6) & 63), 0x80 | (unit & 63)]);
    }),
  );
}

function hexOf(text: string): string {
  return Array.from(sha256(text), (word) => word.toString(16).padStart(8, '0')).join('');
}

test('is what node:crypto computes, for every length around the ends of blocks', () => {
  for (let length = 0; length < 400; length++) {
    const text = 'abcdefg'.repeat(60).slice(0, length);
    expect(hexOf(text)).toBe(createHash('sha256').update(text).digest('hex'));
  }
});

test('and for any text, halves of surrogate pairs included', () => {
  fc.assert(
    fc.property(codePoints(300), fc.string({ unit: 'grapheme' }), (some, more) => {
      for (const text of [some, more, `${more}\ud800`, `\udfff${some}`]) {
        expect(hexOf(text)).toBe(createHash('sha256').update(bytesOf(text)).digest('hex'));
      }
    }),
  );
});
