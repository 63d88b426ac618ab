import { expect, test } from 'vitest';
import { targetRate } from '../../../../src/core/target/target-rate.js';

const NO_BACKEND = Number.POSITIVE_INFINITY;

test.each([
  { says: 'backends bear less', desired: 100, limiting: 40, reserved: 10, target: 40 },
  { says: 'never below what is reserved', desired: 100, limiting: 5, reserved: 10, target: 10 },
  { says: 'no backend reports', desired: 100, limiting: NO_BACKEND, reserved: 0, target: 100 },
  { says: 'blocked', desired: 0, limiting: NO_BACKEND, reserved: 0, target: 0 },
  { says: 'unlimited', desired: Infinity, limiting: NO_BACKEND, reserved: 0, target: Infinity },
])('$says', ({ desired, limiting, reserved, target }) => {
  expect(targetRate(desired, limiting, reserved)).toBe(target);
});
