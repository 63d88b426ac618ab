import { describe, expect, test } from 'vitest';
import { KeyPattern } from '../../../../src/core/account/keys/key-pattern.js';

describe('the pattern of a template', () => {
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
