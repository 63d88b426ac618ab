import { expect, test } from 'vitest';
import { cellOf, Strangers } from '../../../../src/core/keys/strangers.js';

test('a group is reported as long as one of its lanes has rows, and another of its cell is not', () => {
  const strangers = new Strangers();
  const group = 2 ** 40 + 7;
  const neighbour = group + 65_536;
  expect(strangers.mayHold(cellOf(group))).toBe(false);
  strangers.note(group, 0, true, 5);
  strangers.note(group, 0, true, 5);
  strangers.note(group, 1, true, 5);
  expect([strangers.has(group), strangers.has(neighbour), strangers.mayHold(cellOf(neighbour))]).toEqual([
    true,
    false,
    true,
  ]);
  strangers.note(group, 0, false, 9);
  expect(strangers.has(group)).toBe(true);
  strangers.note(group, 1, false, 9);
  expect([strangers.has(group), strangers.mayHold(cellOf(group))]).toEqual([false, false]);
});
