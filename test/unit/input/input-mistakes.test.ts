import { expect, test } from 'vitest';
import { z } from 'zod';
import { inputMistakes, told } from '../../../src/base/input/input-mistakes.js';
import { fieldsOf } from '../../../src/base/input/schema-parts.js';

const AMOUNT = told(z.number().int().min(0), 'a whole number');
const BODY = z.strictObject({
  name: told(z.string().min(1), { allowed: 'a name', remedy: 'Name it.' }),
  messages: AMOUNT.optional(),
  roles: told(z.array(z.enum(['admin', 'traffic'])), 'a list of roles').nullish(),
  headers: z.record(z.string(), told(z.string(), 'a text')).default({}),
  below: z.strictObject({ deep: told(z.literal(true), 'true, or absent').optional() }).optional(),
});

function mistakesOf(input: unknown, schema: z.ZodType = BODY) {
  return inputMistakes(schema, input, schema.safeParse(input).error?.issues ?? []);
}

test('what is right has no mistake', () => {
  expect(mistakesOf({ name: 'a', messages: 3, roles: ['admin'], headers: { x: 'y' }, below: { deep: true } })).toEqual(
    [],
  );
});

test('a wrong value is told in the words of its schema, through what says that it may be absent', () => {
  expect(mistakesOf({ name: 'a', messages: -1 })).toEqual([
    { kind: 'value', path: ['messages'], says: { allowed: 'a whole number' }, got: -1 },
  ]);
  expect(mistakesOf({ name: 'a', below: { deep: false } })).toEqual([
    { kind: 'value', path: ['below', 'deep'], says: { allowed: 'true, or absent' }, got: false },
  ]);
});

test('a part without words of its own is told in those of what is around it', () => {
  expect(mistakesOf({ name: 'a', roles: ['admin', 'king'] })).toEqual([
    { kind: 'value', path: ['roles', 1], says: { allowed: 'a list of roles' }, got: 'king' },
  ]);
  expect(mistakesOf({ name: 'a', headers: { x: 1 } })).toEqual([
    { kind: 'value', path: ['headers', 'x'], says: { allowed: 'a text' }, got: 1 },
  ]);
});

test('what is missing is told as missing, null is a value', () => {
  expect(mistakesOf({})).toEqual([
    { kind: 'missing', path: ['name'], says: { allowed: 'a name', remedy: 'Name it.' } },
  ]);
  expect(mistakesOf({ name: null })).toMatchObject([{ kind: 'value', path: ['name'], got: null }]);
});

test('every unknown key is a mistake with the keys that are known there', () => {
  expect(mistakesOf({ name: 'a', nmae: 1, x: 2, below: { dep: true } })).toEqual([
    { kind: 'key-unknown', path: ['below'], key: 'dep', known: ['deep'] },
    ...['nmae', 'x'].map((key) => {
      return { kind: 'key-unknown', path: [], key, known: ['name', 'messages', 'roles', 'headers', 'below'] };
    }),
  ]);
});

test('what must be a mapping and is none is told with its keys', () => {
  for (const got of ['text', 3, null, [1]]) {
    expect(mistakesOf({ name: 'a', below: got })).toEqual([
      { kind: 'not-a-mapping', path: ['below'], known: ['deep'], got },
    ]);
  }
  expect(mistakesOf(undefined)).toMatchObject([{ kind: 'not-a-mapping', path: [] }]);
});

test('a check between fields brings its own words', () => {
  const range = z.strictObject({ from: AMOUNT, to: AMOUNT }).superRefine(({ from, to }, context) => {
    const params = { allowed: 'at most to', remedy: 'Lower it.' };
    if (from > to) context.addIssue({ code: 'custom', path: ['from'], message: 'is above to', params });
  });
  expect(mistakesOf({ from: 3, to: 1 }, range)).toEqual([
    { kind: 'told', path: ['from'], problem: 'is above to', params: { allowed: 'at most to', remedy: 'Lower it.' } },
  ]);
});

test('keys of a prototype are not taken for keys that are there', () => {
  expect(mistakesOf(JSON.parse('{ "name": "a", "__proto__": 1 }'))).toMatchObject([
    { kind: 'key-unknown', key: '__proto__' },
  ]);
  expect(mistakesOf({ name: 'a', constructor: 1 })).toMatchObject([{ kind: 'key-unknown', key: 'constructor' }]);
});

test('fields are found behind preprocessing, defaults and transformations', () => {
  const object = z.strictObject({ a: z.string().optional() });
  const wrapped = z.preprocess((written) => written ?? undefined, object.default({}));
  expect(Object.keys(fieldsOf(wrapped))).toEqual(['a']);
  expect(Object.keys(fieldsOf(object.transform(({ a }) => a)))).toEqual(['a']);
  expect(fieldsOf(z.string())).toEqual({});
});
