import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BULK_BODY } from '../../src/doors/http/acquire/acquire-body.js';
import { isPlainBulk } from '../../src/doors/http/acquire/plain-request.js';
import { AMOUNT_MAX, GROUP_LENGTH_MAX } from '../../src/doors/http/route/fields.js';
import { runs } from './seed.js';

const odd = fc.constantFrom<unknown>(null, true, '', '1', -1, 0.5, -0, AMOUNT_MAX + 1, [], {}, 'x'.repeat(2000));
const amount = fc.oneof({ weight: 4, arbitrary: fc.nat() }, { weight: 1, arbitrary: odd });
const group = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('orders', '\u{1f418}') }, { weight: 1, arbitrary: odd });
const direction = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('publish', 'dispatch') }, odd);
const retry = fc.oneof({ weight: 4, arbitrary: fc.boolean() }, odd);
const request = fc.oneof(
  { weight: 9, arbitrary: fc.record({ group, messages: amount, bytes: amount }, { requiredKeys: ['group'] }) },
  { weight: 4, arbitrary: fc.record({ topic: group, client: group, bytes: amount, direction, retry }) },
  { weight: 1, arbitrary: fc.record({ group, messages: amount, tenant: group, x: odd }, { requiredKeys: ['group'] }) },
  { weight: 1, arbitrary: odd },
);
const body = fc.oneof(
  { weight: 9, arbitrary: fc.record({ requests: fc.array(request, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ requests: fc.array(request, { maxLength: 3 }), x: odd }) },
  { weight: 1, arbitrary: fc.record({ requests: odd }) },
  { weight: 1, arbitrary: odd },
);

test('a bulk that passes without the schema is one that the schema passes unchanged', () => {
  const seen = { plain: 0, refused: 0 };
  fc.assert(
    fc.property(body, (given) => {
      const read = BULK_BODY.safeParse(given);
      if (!read.success) seen.refused++;
      if (!isPlainBulk(given)) return;
      seen.plain++;
      expect(read.data).toEqual(given);
    }),
    runs(1500),
  );
  expect(Math.min(seen.plain, seen.refused)).toBeGreaterThan(runs(150).numRuns);
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
  ['bytes alone', [{ group: 'orders', bytes: 512 }], true],
  ['a topic instead of a group', [{ topic: 'paid', messages: 1, direction: 'dispatch', retry: true }], true],
  ['no amount', [{ group: 'orders' }], false],
  ['no scope', [{ messages: 1 }], false],
  ['anything else', [{ group: 'orders', messages: 1, atMost: false }], false],
  ['what every object has', [{ group: 'orders', messages: 1, toString: 1 }], false],
  ['a name too long', [{ group: 'x'.repeat(GROUP_LENGTH_MAX + 1), messages: 1 }], false],
  ['none', [], false],
  ['more than a thousand', Array.from({ length: 1001 }, () => ({ group: 'orders', messages: 1 })), false],
])('plain: %s', (_, requests, isPlain) => {
  expect(isPlainBulk({ requests })).toBe(isPlain);
});
