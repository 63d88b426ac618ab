import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyNameOf } from '../../src/config/setting/key-name.js';
import { KEY_NAME_MAX } from '../../src/core/base/constants.js';
import { codePoints, partOf, runs } from './seed.js';

/** Texts as people and attackers have them: any code units, around the bound, and nearly alike. */
const part = fc.oneof(
  codePoints(8),
  fc.constantFrom('\ud800', '\udc00', '😀', 'ü', 'u\u0308', '/', '%', '%61', '\n', '\0', '~sha256:'),
);
const text = fc
  .tuple(fc.array(part, { maxLength: 6 }), fc.integer({ min: 0, max: 260 }))
  .map(([parts, length]) => parts.join('') + 'x'.repeat(length));

test('text of at most 200 characters is its own name, and any name is one', () => {
  fc.assert(
    fc.property(text, (given) => {
      const name = keyNameOf(given);
      expect(name.length).toBeLessThanOrEqual(KEY_NAME_MAX);
      expect(name.isWellFormed()).toBe(true);
      expect(keyNameOf(name)).toBe(name);
      if (given.isWellFormed() && given.length <= KEY_NAME_MAX) expect(name).toBe(given);
    }),
    runs(1000),
  );
});

test('no two texts have one name', () => {
  const names = new Map<string, string>();
  let long = 0;
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 300 }), (given, at) => {
      // One character of a text is another.
      for (const each of [given, `${given.slice(0, at)}y${given.slice(at + 1)}`]) {
        if (!each.isWellFormed()) continue;
        const name = keyNameOf(each);
        if (each.length > KEY_NAME_MAX) long++;
        expect(names.get(name) ?? each).toBe(each);
        names.set(name, each);
      }
    }),
    runs(1000),
  );
  expect(long).toBeGreaterThan(partOf(200));
});
