import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSameValue } from '../../../../src/node/groups/least-definition.js';
import { runs } from '../../../property/seed.js';

it('of plain data, it says what node:util says', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const pair = fc.oneof(
    fc.tuple(value, value),
    value.map((one) => [one, structuredClone(one)] as const),
  );
  fc.assert(
    fc.property(pair, ([one, other]) => {
      expect(isSameValue(one, other)).toBe(isDeepStrictEqual(one, other));
    }),
    runs(500),
  );
});
