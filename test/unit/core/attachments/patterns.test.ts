import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Captured, fill, matchName, matchTopic } from '../../../../src/core/beside/attachments/patterns.js';
import { runs } from '../../../property/seed.js';

describe('names', () => {
  test.each<[pattern: string, name: string, captured: Captured | null]>([
    ['trial-*', 'trial-7', {}],
    ['trial-*', 'trial-', {}],
    ['trial-*', 'a trial-7', null],
    ['trial', 'trial-7', null],
    ['*', '', null],
    ['*', 'two\nlines', {}],
    ['*', 'x'.repeat(256), {}],
    ['*', 'x'.repeat(257), null],
    ['trial-{who}', 'trial-7', { who: '7' }],
    ['trial-{who}', 'trial-', null],
    ['{a}-{b}', 'x-y-z', { a: 'x-y', b: 'z' }],
    ['{a}', 'x/y', { a: 'x/y' }],
    ['{a}-{b}', 'x/y-z', null],
    ['a.b', 'axb', null],
    ['a.b(c)[d]$', 'a.b(c)[d]$', {}],
  ])('%s and %s', (pattern, name, expected) => {
    const captured: Captured = {};
    expect(matchName(pattern, name, captured)).toBe(expected !== null);
    if (expected !== null) expect(captured).toEqual(expected);
  });
});

describe('topics', () => {
  test.each<[pattern: string, topic: string, captured: Captured | null]>([
    ['audit', 'audit', {}],
    ['audit', 'audit/x', null],
    ['audit/x', 'audit', null],
    ['audit/+', 'audit/x', {}],
    ['audit/+', 'audit/', {}],
    ['audit/+', 'audit', null],
    ['audit/+', 'audit/x/y', null],
    ['audit/#', 'audit', {}],
    ['audit/#', 'audit/x/y', {}],
    ['#', '', {}],
    ['{who}/x', 'me/x', { who: 'me' }],
    ['{who}/x', '/x', null],
    ['{who}/x', 'me/y', null],
    ['{a}/{a}', 'me/me', { a: 'me' }],
    ['{a}/{a}', 'me/you', null],
    ['+/{a}/+', 'x/me/y', { a: 'me' }],
  ])('%s and %s', (pattern, topic, expected) => {
    const captured: Captured = {};
    expect(matchTopic(pattern, topic, captured)).toBe(expected !== null);
    if (expected !== null) expect(captured).toEqual(expected);
  });

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
