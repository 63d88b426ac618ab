import './seed.js';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AMOUNT_MAX, BULK_BODY_SCHEMA, GROUP_LENGTH_MAX } from '../../src/http/acquire/acquire-schema.js';
import { isPlainBatch } from '../../src/http/acquire/plain-bulk.js';

const odd = fc.constantFrom<unknown>(null, true, '', '1', -1, 0.5, -0, AMOUNT_MAX + 1, [], {}, 'x'.repeat(2000));
const amount = fc.oneof({ weight: 4, arbitrary: fc.nat() }, { weight: 1, arbitrary: odd });
const group = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('orders', '\u{1f418}') }, { weight: 1, arbitrary: odd });
const ask = fc.oneof(
  { weight: 9, arbitrary: fc.record({ group, messages: amount, bytes: amount }, { requiredKeys: ['group'] }) },
  { weight: 1, arbitrary: fc.record({ group, messages: amount, topic: group, x: odd }, { requiredKeys: ['group'] }) },
  { weight: 1, arbitrary: odd },
);
const body = fc.oneof(
  { weight: 9, arbitrary: fc.record({ asks: fc.array(ask, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ asks: fc.array(ask, { maxLength: 3 }), x: odd }) },
  { weight: 1, arbitrary: fc.record({ asks: odd }) },
  { weight: 1, arbitrary: odd },
);

test('a batch that passes without the schema is one that the schema accepts', () => {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(BULK_BODY_SCHEMA);
  const seen = { plain: 0, refused: 0 };
  fc.assert(
    fc.property(body, (given) => {
      const accepted = validate(given);
      if (!accepted) seen.refused++;
      if (!isPlainBatch(given)) return;
      seen.plain++;
      expect(accepted).toBe(true);
    }),
    { numRuns: 1500 },
  );
  expect(Math.min(seen.plain, seen.refused)).toBeGreaterThan(150);
});

test.each([
  [
    'groups and amounts',
    [
      { group: 'orders', messages: 1, bytes: 512 },
      { group: 'x', messages: 0 },
    ],
    true,
  ],
  ['bytes alone', [{ group: 'orders', bytes: 512 }], false],
  ['anything else', [{ group: 'orders', messages: 1, retry: false }], false],
  ['a name too long', [{ group: 'x'.repeat(GROUP_LENGTH_MAX + 1), messages: 1 }], false],
  ['none', [], false],
  ['more than a thousand', Array.from({ length: 1001 }, () => ({ group: 'orders', messages: 1 })), false],
])('plain: %s', (_, asks, isPlain) => {
  expect(isPlainBatch({ asks })).toBe(isPlain);
});
