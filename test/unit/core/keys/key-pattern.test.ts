import { describe, expect, test } from 'vitest';
import { KeyPattern } from '../../../../src/core/account/keys/key-pattern.js';

function pattern(text: string): KeyPattern {
  const read = KeyPattern.of(text);
  if (typeof read === 'string') throw new Error(`${text} ${read}`);
  return read;
}

describe('the pattern of a template', () => {
  test.each([
    ['key:{id}', 'key:a', true],
    ['key:{id}', 'key:a:b', true],
    ['key:{id}', 'key:', true],
    ['key:{id}', 'key:2001:db8::/56', true],
    ['key:{id}', 'key:a b\nü', true],
    ['key:{id}', 'akey:a', false],
    ['a.b:{id}', 'axb:1', false],
    ['tenant:{t}/user:{u}', 'tenant:x/user:y', true],
    ['tenant:{t}/user:{u}', 'tenant:x', false],
  ])('%s and %s: %s', (text, name, is) => {
    expect(pattern(text).matches(name)).toBe(is);
  });

  test.each([
    ['key:{id}', 'key:{name}', true],
    ['key:{id}', 'key:a{id}', true],
    ['key:{id}', 'kay:{id}', false],
    ['{a}:b', 'a:{b}', true],
    ['a{x}c', 'a{y}d', false],
    ['tenant:{t}', 'tenant:{t}/user:{u}', true],
    ['{a}b', '{a}c', false],
    ['tenant:{t}/user:{u}', '{k}/{v}', true],
    ['{a}ab', 'ab{b}', true],
  ])('%s and %s have names in common: %s', (one, other, is) => {
    expect(pattern(one).overlaps(pattern(other))).toBe(is);
    expect(pattern(other).overlaps(pattern(one))).toBe(is);
  });

  test.each([
    ['key', /no field/],
    ['key:{id', /may not hold "\{"/],
    ['a b{id}', /may not hold " "/],
    ['{a}{b}', /nothing between \{b\} and/],
    ['{a}:{a}', /\{a\} twice/],
    [':{a}', /must begin/],
    [`${'k'.repeat(200)}{id}`, /longer than 200/],
  ])('%s is none', (text, why) => {
    expect(KeyPattern.of(text)).toMatch(why);
  });
});
