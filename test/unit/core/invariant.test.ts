import { expect, test } from 'vitest';
import { InvariantError, invariant } from '../../../src/core/base/invariant.js';

test('a broken invariant names the numbers that broke it', () => {
  expect(() => invariant(false, 'a share must not be negative', { share: -1, lane: 3 })).toThrow(
    new InvariantError('a share must not be negative', { share: -1, lane: 3 }),
  );
  expect(() => invariant(false, 'plain')).toThrow('invariant broken: plain');
  expect(() => invariant(true, 'fine')).not.toThrow();
});
