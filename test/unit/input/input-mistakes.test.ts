import { expect, test } from 'vitest';
import { z } from 'zod';
import { inputMistakes, told } from '../../../src/base/input/input-mistakes.js';
import { fieldsOf } from '../../../src/base/input/schema-parts.js';

const AMOUNT = told(z.number().int().min(0), 'a whole number');
const BODY = z.strictObject({
  name: told(z.string().min(1), 'a name'),
  messages: AMOUNT.optional(),
  roles: told(z.array(z.enum(['admin', 'traffic'])), 'a list of roles').nullish(),
  headers: z.record(z.string(), told(z.string(), 'a text')).default({}),
  below: z.strictObject({ deep: told(z.literal(true), 'true, or absent').optional() }).optional(),
});

function mistakesOf(input: unknown, schema: z.ZodType = BODY) {
  return inputMistakes(schema, input, schema.safeParse(input).error?.issues ?? []);
}

test('a part without words of its own is told in those of what is around it', () => {
  expect(mistakesOf({ name: 'a', roles: ['admin', 'king'] })).toEqual([
    { kind: 'value', path: ['roles', 1], says: { allowed: 'a list of roles' }, got: 'king' },
  ]);
  expect(mistakesOf({ name: 'a', headers: { x: 1 } })).toEqual([
    { kind: 'value', path: ['headers', 'x'], says: { allowed: 'a text' }, got: 1 },
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
