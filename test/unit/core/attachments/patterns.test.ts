import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Captured, fill, matchName, matchTopic } from '../../../../src/core/beside/attachments/patterns.js';
import { runs } from '../../../property/seed.js';

describe('topics', () => {
  test('any pattern and topic, as a regular expression would judge', () => {
    const level = fc.constantFrom('a', 'b', '', 'c');
    const wanted = fc.constantFrom('a', 'b', '', '+', '{x}', '{y}');
    const patterns = fc.tuple(fc.array(wanted, { minLength: 1, maxLength: 4 }), fc.boolean());
    let matched = 0;
    fc.assert(
      fc.property(patterns, fc.array(level, { minLength: 1, maxLength: 5 }), ([levels, isOpen], given) => {
        const parts = levels.map((each, at) => partOf(each, levels.indexOf(each) < at));
        const expression = new RegExp(`^${parts.join('/')}${isOpen ? '(/.*)?' : ''}$`);
        const found = expression.exec(given.join('/'));
        const captured: Captured = {};
        const pattern = [...levels, ...(isOpen ? ['#'] : [])].join('/');
        expect(matchTopic(pattern, given.join('/'), captured)).toBe(found !== null);
        if (found === null) return;
        matched++;
        expect(captured).toEqual({ ...found.groups });
      }),
      runs(2000),
    );
    expect(matched).toBeGreaterThan(runs(100).numRuns);
  });

  test('what one pattern captured has to be the same in the next', () => {
    const captured: Captured = { who: 'me' };
    expect(matchTopic('{who}/x', 'me/x', captured)).toBe(true);
    expect(matchName('{who}', 'you', captured)).toBe(false);
    expect(matchTopic('{who}/x', 'you/x', captured)).toBe(false);
  });
});

test.each<[template: string, captured: Captured, filled: string | null]>([
  ['plain', {}, 'plain'],
  ['{a}-{b}', { a: '1', b: '2' }, '1-2'],
  ['{a}-{b}', { a: '1' }, null],
  ['{a}{a}', { a: '1' }, '11'],
])('%s filled with what was captured', (template, captured, filled) => {
  expect(fill(template, captured)).toBe(filled);
});

/** Translates one level of a pattern into a part of a regular expression. */
function partOf(level: string, isRepeated: boolean): string {
  if (level === '+') return '[^/]*';
  const name = /^\{(.*)\}$/.exec(level)?.[1];
  if (name === undefined) return level;
  return isRepeated ? `\\k<${name}>` : `(?<${name}>[^/]+)`;
}
