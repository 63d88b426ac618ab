import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyPattern } from '../../src/core/account/keys/key-pattern.js';
import { runs } from './seed.js';

const letters = fc.string({ unit: fc.constantFrom('a', 'b', ':', '/'), maxLength: 3 });
const pattern = fc
  .tuple(letters, fc.array(letters, { minLength: 1, maxLength: 4 }))
  .map(([first, others]) => first + others.map((text, at) => `{f${at}}${text}`).join(''));
const name = fc.string({ unit: fc.constantFrom('a', 'b', ':', '/'), maxLength: 12 });

test('a pattern matches what a regular expression would', () => {
  let matched = 0;
  fc.assert(
    fc.property(pattern, name, (text, given) => {
      const read = KeyPattern.of(text);
      if (typeof read === 'string') return;
      const expression = new RegExp(`^${text.replace(/\{\w+\}/g, '.*')}$`, 's');
      if (expression.test(given)) matched++;
      expect(read.matches(given), `${text} ${given}`).toBe(expression.test(given));
    }),
    runs(3000),
  );
  expect(matched).toBeGreaterThan(runs(30).numRuns);
});

const letter = fc.constantFrom('a', ':', '');
const short = fc.tuple(letter, letter, letter).map(([first, second, last]) => `a${first}{x}${second || 'a'}{y}${last}`);
const given = fc.string({ unit: fc.constantFrom('a', ':'), maxLength: 5 }).map((text) => `a${text}`);

test('patterns have names in common where some name of both is found', () => {
  let common = 0;
  fc.assert(
    fc.property(short, short, given, (text, otherText, name) => {
      const [one, other] = [KeyPattern.of(text), KeyPattern.of(otherText)];
      if (typeof one === 'string' || typeof other === 'string') return;
      if (!one.matches(name) || !other.matches(name)) return;
      common++;
      expect(one.overlaps(other), `${text} ${otherText} ${name}`).toBe(true);
    }),
    runs(3000),
  );
  expect(common).toBeGreaterThan(runs(10).numRuns);
});

test('a name that matches nearly takes no time', () => {
  const read = KeyPattern.of('{a}:{b}:{c}:{d}:{e}:{f}:x') as KeyPattern;
  const beganMs = performance.now();
  for (let asked = 0; asked < 100; asked++) expect(read.matches(':'.repeat(200))).toBe(false);
  // A regular expression takes minutes for one of them.
  expect(performance.now() - beganMs).toBeLessThan(1000);
});
