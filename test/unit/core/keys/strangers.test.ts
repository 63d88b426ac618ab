import { expect, test } from 'vitest';
import { Strangers } from '../../../../src/core/account/keys/strangers.js';
import { bitsOf } from '../../../../src/core/base/ids.js';

/** Four characters are 24 bits; 65,536 in the first thirty are one cell further round. */
const GROUP = 'AAAAAHAAAAAAAAAA';
const NEIGHBOUR = `AAQAA${GROUP.slice(5)}`;

test('a group is reported as long as one of its lanes has rows, and another of its cell is not', () => {
  const strangers = new Strangers();
  const [group, neighbour] = [bitsOf(GROUP), bitsOf(NEIGHBOUR)];
  expect(neighbour).not.toBe(group);
  expect((neighbour - group) % 65_536).toBe(0);
  expect(strangers.has(group)).toBe(false);
  strangers.note(GROUP, 0, true);
  strangers.note(GROUP, 0, true);
  strangers.note(GROUP, 1, true);
  expect([strangers.has(group), strangers.has(neighbour)]).toEqual([true, false]);
  strangers.note(GROUP, 0, false);
  expect(strangers.has(group)).toBe(true);
  strangers.note(GROUP, 1, false);
  expect(strangers.has(group)).toBe(false);
});
